import { type AskedCoverage, coverageAt } from '../definitions/coverage.js'
import { iso } from '../definitions/rows.js'
import { type Body, FORMATS, type Kind } from './questions.js'

const DAY = 86_400
const WEEK = 7 * DAY
/** What an answer about a state or a depth is about. */
const STATE = 300

/** Ranges that are listed in a body, and in the header of the other formats. */
const MOST_LISTED = { body: 100, header: 20 }

type Route = {
  path: string
  /** How far an answer about an instant reaches back; without it, the route is about a range. */
  seconds?: number
  families: readonly string[]
  isPriced?: true
  /** Whether the coverage also says what else is not known, so that its status may be worse. */
  hasState?: true
  query?: Record<string, string | number>
  isExport?: true
}

const ALL = Number.POSITIVE_INFINITY
/** Without those whose coverage also depends on what jobs have searched. */
const ROUTES: readonly Route[] = [
  { path: 'stablecoins', seconds: STATE, families: ['pegs', 'state'], hasState: true },
  { path: 'stablecoins/:address', seconds: STATE, families: ['pegs', 'state'], hasState: true },
  { path: 'stablecoins/:address/peg', seconds: WEEK, families: ['pegs'], hasState: true },
  { path: 'stablecoins/:address/depth', seconds: STATE, families: ['pegs'], hasState: true },
  { path: 'stablecoins/:address/rewards', seconds: ALL, families: ['logs'], hasState: true },
  { path: 'stablecoins/:address/roles', seconds: ALL, families: ['catalogue'], hasState: true },
  { path: 'stablecoins/flows', seconds: DAY, families: ['logs'], isPriced: true, query: { hours: 24 } },
  { path: 'fee-economics/overview', seconds: ALL, families: ['logs'] },
  { path: 'stablecoins/flows/history', families: ['logs'], isPriced: true },
  { path: 'stablecoins/flows/export', families: ['logs'], isPriced: true, isExport: true },
  { path: 'stablecoins/:address/peg/series', families: ['pegs'], isExport: true },
  { path: 'stablecoins/:address/supply/series', families: ['logs', 'state'], isExport: true },
]

const STATUSES = ['complete', 'partial', 'unavailable']

type Published = { status: string }

/** The coverage of one stable, in the list of all or in an answer about it. */
const coverageOf = (body: Body, stable: string): Published | undefined =>
  (body.coverage ??
    (body.stablecoins as { address: string; coverage: Published }[] | undefined)?.find(
      ({ address }) => address === stable,
    )?.coverage) as Published | undefined

/** The coverage of a random route, about an instant or a range, in a random format. */
export const COVERAGE_KINDS: readonly Kind[] = [
  {
    name: 'coverage',
    ask: ({ facts, stable, at, pick }) => {
      const route = ROUTES[pick(ROUTES.length)] as Route
      const { path, seconds, families, isPriced, hasState, isExport, query } = route
      const from = seconds === undefined ? at - pick(WEEK) : seconds === ALL ? 0 : at - seconds + 1
      const to = seconds === undefined ? from + 1 + pick(at - from) : at
      const format = (isExport && FORMATS[pick(FORMATS.length)]) ?? 'json'
      const isOfStable = path.includes(':address') || path === 'stablecoins'
      const since = facts.stables.find((one) => one.stable === stable)
      const asked: AskedCoverage = {
        families,
        from,
        to: seconds === undefined ? Math.max(from, to - 1) : to,
        ...(isOfStable && { stable }),
        ...(isOfStable && since && { since }),
        ...(isPriced && { isPriced }),
      }
      const expected = coverageAt(facts.stored, asked, format === 'json' ? MOST_LISTED.body : MOST_LISTED.header)
      const isWorse = (published: string): boolean =>
        hasState === true && STATUSES.indexOf(published) > STATUSES.indexOf(expected.status)
      return {
        path: path.replace(':address', stable),
        query: {
          ...query,
          ...(seconds === undefined ? { from, to } : { as_of: iso(at) }),
          ...(isExport && { format, limit: 300 }),
        },
        // Flow history is a 404 before the first block.
        expected: isExport || to > (facts.times[0] ?? 0) || seconds !== undefined ? expected : null,
        read: (body) => {
          const published = coverageOf(body, stable)
          return published && isWorse(published.status) ? { ...published, status: expected.status } : published
        },
      }
    },
  },
]
