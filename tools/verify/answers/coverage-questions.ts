import { type CoverageRequest, coverageAt } from '../../../oracle/coverage.js'
import { LONGEST_WINDOW } from '../../../oracle/peg-windows.js'
import { iso } from '../../../oracle/rows.js'
import type { JobSearch, SlotsByJob } from '../../../oracle/searched.js'
import { type Body, FORMATS, type Kind, type Question, type Subject } from './questions.js'

const HOUR = 3600
const DAY = 86_400
const WEEK = 7 * DAY
/** What an answer about a state or a depth is about. */
const STATE = 300

/** Ranges that are listed in a body, and in the header of the other formats. */
const MOST_LISTED = { body: 100, header: 20 }

/** Seconds between two slots of a job. */
const PERIODS = { 'peg-events': 120, 'peg-tracks': 120, risk: 300, reserves: 3600, 'flow-anomalies': 900 } as const

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
  /** How far the figures of a range reach back before it. */
  reach?: number
  /** The jobs that have to have searched that time. */
  searches?: readonly (keyof typeof PERIODS)[]
  /** The job whose newest result the answer is. */
  snapshot?: keyof typeof PERIODS
}

const ALL = Number.POSITIVE_INFINITY
/** Made of facts alone. */
const FACT_ROUTES: readonly Route[] = [
  { path: 'stablecoins', seconds: STATE, families: ['pegs', 'state'], hasState: true },
  { path: 'stablecoins/:address', seconds: STATE, families: ['pegs', 'state'], hasState: true },
  { path: 'stablecoins/:address/peg', seconds: LONGEST_WINDOW, families: ['pegs'], hasState: true },
  { path: 'stablecoins/:address/peg/averages', seconds: LONGEST_WINDOW, families: ['pegs', 'logs'], hasState: true },
  { path: 'stablecoins/:address/depth', seconds: STATE, families: ['pegs'], hasState: true },
  { path: 'stablecoins/:address/liquidity', seconds: STATE, families: ['pegs', 'state'], hasState: true },
  { path: 'stablecoins/:address/rewards', seconds: ALL, families: ['logs'], hasState: true },
  { path: 'stablecoins/:address/issuance', seconds: 31 * DAY, families: ['logs'], hasState: true },
  { path: 'stablecoins/:address/holders', seconds: ALL, families: ['transfers'], hasState: true },
  { path: 'stablecoins/:address/roles', seconds: ALL, families: ['catalogue'], hasState: true },
  { path: 'stablecoins/flows', seconds: DAY, families: ['logs'], isPriced: true, query: { hours: 24 } },
  { path: 'stablecoins/flows/scores', seconds: WEEK + 1800, families: ['logs'], isPriced: true },
  { path: 'fee-economics/overview', seconds: ALL, families: ['logs'] },
  { path: 'stablecoins/flows/history', families: ['logs'], isPriced: true },
  { path: 'stablecoins/flows/export', families: ['logs'], isPriced: true, isExport: true },
  { path: 'stablecoins/:address/peg/series', families: ['pegs'], isExport: true },
  { path: 'stablecoins/:address/supply/series', families: ['logs', 'state'], isExport: true },
  { path: 'stablecoins/peg/series', families: ['pegs'] },
  { path: 'stablecoins/:address/peg/windows/series', families: ['pegs'], reach: LONGEST_WINDOW },
  { path: 'stablecoins/:address/depth/series', families: ['pegs'] },
]

/** Made of what jobs have found. */
const JOB_ROUTES: readonly Route[] = [
  {
    path: 'stablecoins/:address/peg-events',
    seconds: ALL,
    families: ['pegs'],
    hasState: true,
    searches: ['peg-events'],
  },
  {
    path: 'stablecoins/:address/peg-events',
    seconds: ALL,
    families: ['pegs'],
    hasState: true,
    searches: ['peg-tracks'],
    query: { track: 'agreed' },
  },
  // The second with which the day begins is part of it.
  { path: 'stablecoins/peg-events', seconds: DAY + 1, families: ['pegs'], searches: ['peg-events'] },
  {
    path: 'stablecoins/flow-anomalies',
    seconds: ALL,
    families: ['logs'],
    isPriced: true,
    searches: ['flow-anomalies'],
  },
  {
    path: 'stablecoins/:address/risk',
    seconds: WEEK,
    families: ['pegs', 'state', 'logs'],
    hasState: true,
    searches: ['peg-events'],
    snapshot: 'risk',
  },
  {
    path: 'stablecoins/:address/reserves',
    seconds: HOUR,
    families: ['pegs', 'state'],
    hasState: true,
    snapshot: 'reserves',
  },
  { path: 'stablecoins/:address/risk/series', families: ['pegs', 'state', 'logs'], isExport: true, searches: ['risk'] },
]

/** What the jobs of a route have to have searched of its answer about an instant; null before its first snapshot. */
function searchesOf({ searches = [], snapshot }: Route, slots: SlotsByJob, at: number, since: number) {
  const searched: JobSearch[] = searches.map((job) => ({
    slots: slots.get(job)?.searched ?? [],
    period: PERIODS[job],
    isPart: snapshot !== undefined,
  }))
  if (snapshot === undefined) return searched
  const newest = slots.get(snapshot)?.shown.findLast((slot) => slot <= at)
  if (newest === undefined || newest < since) return null
  return [{ slots: [newest], period: PERIODS[snapshot], isNewest: true }, ...searched]
}

const STATUSES = ['complete', 'partial', 'unavailable']

type Published = { status: string }

/** The coverage of one stable, in the list of all or in an answer about it. */
const coverageOf = (body: Body, stable: string): Published | undefined =>
  (body.coverage ??
    (body.stablecoins as { address: string; coverage: Published }[] | undefined)?.find(
      ({ address }) => address === stable,
    )?.coverage) as Published | undefined

/** The coverage of one of these routes, about an instant or a range, in a random format. */
function coverageQuestion(routes: readonly Route[], { facts, stable, at, pick }: Subject): Question {
  const route = routes[pick(routes.length)] as Route
  const { path, seconds, families, isPriced, hasState, isExport, reach = 0, query } = route
  const from = seconds === undefined ? at - pick(WEEK) : seconds === ALL ? 0 : at - seconds + 1
  const to = seconds === undefined ? from + 1 + pick(at - from) : at
  const format = (isExport && FORMATS[pick(FORMATS.length)]) ?? 'json'
  const isOfStable = path.includes(':address') || path === 'stablecoins'
  const since = facts.stables.find((row) => row.stable === stable)
  const searches = searchesOf(route, facts.slots, at, since?.block_time ?? 0)
  const request: CoverageRequest = {
    families,
    from: from - reach,
    to: seconds === undefined ? Math.max(from, to - 1) : to,
    ...(isOfStable && { stable }),
    ...(isOfStable && since && { since }),
    ...(isPriced && { isPriced }),
    ...(searches && { searches }),
  }
  const expected = coverageAt(facts.stored, request, format === 'json' ? MOST_LISTED.body : MOST_LISTED.header)
  const isWorse = (published: string): boolean =>
    hasState === true && STATUSES.indexOf(published) > STATUSES.indexOf(expected.status)
  // Flow history is a 404 before the first block.
  const isThere = path !== 'stablecoins/flows/history' || to > (facts.times[0] ?? 0)
  return {
    path: path.replace(':address', stable),
    query: {
      ...query,
      ...(seconds === undefined ? { from, to } : { as_of: iso(at) }),
      ...(isExport && { format, limit: 300 }),
    },
    expected: isThere && searches ? expected : null,
    read: (body) => {
      const published = coverageOf(body, stable)
      return published && isWorse(published.status) ? { ...published, status: expected.status } : published
    },
  }
}

export const COVERAGE_KINDS: readonly Kind[] = [
  { name: 'coverage', ask: (subject) => coverageQuestion(FACT_ROUTES, subject) },
  {
    name: 'coverage of searches',
    jobs: Object.keys(PERIODS),
    ask: (subject) => coverageQuestion(JOB_ROUTES, subject),
  },
]
