import { dayFigures, depthColumns, pegColumns, windowColumns } from '../../../oracle/columns.js'
import { LONGEST_WINDOW } from '../../../oracle/peg-windows.js'
import { iso } from '../../../oracle/rows.js'
import type { ChainFacts } from './chain-facts.js'
import { type Body, between, type Kind, type Subject, scoreAt } from './questions.js'
import { bucketsOf, INTERVALS } from './range-questions.js'

const HOUR = 3600
/** Most buckets of an answer with windows, of which each is computed from the samples of the longest window. */
const MOST_WINDOWS = 20

/** The buckets of a question in columns, its parameters, and what its answer says of them. */
function columnsOf(subject: Subject, bounds?: { most: number }) {
  const step = INTERVALS[subject.pick(INTERVALS.length)] ?? '1h'
  const { from, to, seconds, starts } = bucketsOf(subject, step, bounds)
  const [first, last] = [starts[0], starts.at(-1)]
  const head = {
    step_seconds: seconds,
    bucket_count: starts.length,
    ...(first !== undefined && last !== undefined && { from: iso(first), to: iso(last + seconds) }),
  }
  return { starts, seconds, head, query: { from, to, step } }
}

const samplesOf = ({ samples }: ChainFacts, stable: string) => samples.get(stable) ?? []

/** What the list says of a stable besides its state and price, up to the slots of its jobs. */
function figuresOf(facts: ChainFacts, stable: string, at: number) {
  const newest = facts.times.findLast((time) => time <= at) ?? 0
  const score = scoreAt(facts, stable, at)
  const isRecent = score !== null && Date.parse(score.computed_at) / 1000 > newest - HOUR
  return {
    address: stable,
    ...dayFigures(between(samplesOf(facts, stable), 0, at), at),
    risk_score: isRecent ? score.composite : null,
    risk_computed_at: isRecent ? score.computed_at : null,
  }
}

/** One kind for each route whose answers are columns, and one for the figures of jobs in the list of stables. */
export const COLUMN_KINDS: readonly Kind[] = [
  {
    name: 'peg columns',
    ask: (subject) => {
      const { facts, pick } = subject
      const { starts, seconds, head, query } = columnsOf(subject)
      const [first = 0, end = 0] = [starts[0], (starts.at(-1) ?? 0) + seconds]
      const stables = facts.stables.map(({ stable }) => stable).sort()
      const columns = stables.flatMap((address) => {
        const figures = pegColumns(between(samplesOf(facts, address), first, end), starts, seconds)
        return figures ? [{ address, ...figures }] : []
      })
      const chosen = pick(2) === 0 ? columns[pick(columns.length)] : undefined
      return {
        path: 'stablecoins/peg/series',
        query: { ...query, ...(chosen && { stables: chosen.address }) },
        expected: { ...head, stables: chosen ? [chosen] : columns },
        read: ({ stables, ...body }) => ({
          ...body,
          stables: (stables as { address: string }[]).toSorted((a, b) => (a.address < b.address ? -1 : 1)),
        }),
      }
    },
  },
  {
    name: 'window columns',
    ask: (subject) => {
      const { facts, stable } = subject
      const { starts, seconds, head, query } = columnsOf(subject, { most: MOST_WINDOWS })
      const windowEnds = starts.map((start) => start + seconds)
      const samples = between(samplesOf(facts, stable), (windowEnds[0] ?? 0) - LONGEST_WINDOW, windowEnds.at(-1) ?? 0)
      return {
        path: `stablecoins/${stable}/peg/windows/series`,
        query,
        expected: {
          address: stable,
          ...head,
          ...(windowEnds.length > 0 && { windows: windowColumns(samples, windowEnds) }),
        },
      }
    },
  },
  {
    name: 'depth columns',
    ask: (subject) => {
      const { facts, stable } = subject
      const { starts, seconds, head, query } = columnsOf(subject)
      const depth = facts.depth.get(stable) ?? []
      return {
        path: `stablecoins/${stable}/depth/series`,
        query,
        expected: { address: stable, ...head, sizes: depthColumns(depth, samplesOf(facts, stable), starts, seconds) },
      }
    },
  },
  {
    name: 'figures of the list',
    jobs: ['peg-events', 'risk'],
    ask: ({ facts, stable, at, pick }) => {
      const isList = pick(2) === 0
      const stables = isList ? facts.stables.filter(({ block_time }) => block_time <= at) : [{ stable }]
      const figures = stables.map((chosen) => figuresOf(facts, chosen.stable, at))
      return {
        path: isList ? 'stablecoins' : `stablecoins/${stable}`,
        query: { as_of: at },
        expected: Object.fromEntries(figures.map(({ address, ...figures }) => [address, figures])),
        read: (body) =>
          Object.fromEntries(
            ((isList ? body.stablecoins : [body]) as Body[]).map(({ address, ...figures }) => [`${address}`, figures]),
          ),
      }
    },
  },
]
