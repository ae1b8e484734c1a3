import type { Flow } from '../../../clickhouse/flows/flows.js'
import { logsReadSince, logsReadUntil } from '../../../oracle/coverage.js'
import { flowScoresOracle } from '../../../oracle/flow-scores.js'
import { flowHoursOracle, flowsOracle } from '../../../oracle/flows.js'
import { liquidityColumns } from '../../../oracle/liquidity.js'
import { iso } from '../../../oracle/rows.js'
import { bucketStarts, pegBucket, riskBucket, supplyBucket } from '../../../oracle/series.js'
import {
  type Body,
  between,
  extendedAt,
  FORMATS,
  type Kind,
  type Question,
  type Subject,
  scoreAt,
} from './questions.js'

const QUARTER = 900
const HOUR = 3600
const DAY = 86_400
const SECONDS = { '1m': 60, '5m': 300, '1h': HOUR, '1d': DAY } as const
type Interval = keyof typeof SECONDS
/** The lengths of buckets. */
export const INTERVALS = Object.keys(SECONDS) as Interval[]
const RISK_PERIOD = 300
/** Most buckets or hours of an answer: enough to find a mistake. */
const MOST = 200

/** Rows in the formats that are decoded, which are sent to the engine as a parameter: an Arrow has 150 bytes for each. */
const MOST_DECODED = 300

/** Edges and nodes by address, as the definition has them: their order is that of the volumes. */
const byAddress = (body: Body) => ({
  edges: Object.fromEntries(
    (body.edges as Body[]).map(({ from, to, from_address, to_address, ...figures }) => [
      `${from_address} ${to_address}`,
      figures,
    ]),
  ),
  nodes: Object.fromEntries(
    (body.nodes as Body[]).map(({ symbol, symbol_shared, address, ...figures }) => [`${address}`, figures]),
  ),
})

const amountOf = (micros: string | null): string | null => {
  if (micros === null) return null
  const digits = micros.padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const exported = (flow: Flow) => ({
  block_number: `${flow.block_number}`,
  log_index: flow.log_index,
  tx_hash: flow.tx_hash,
  kind: flow.kind,
  from_address: flow.from_token,
  to_address: flow.to_token,
  account: flow.account,
  amount_in: flow.amount_in_raw,
  amount_out: flow.amount_out_raw,
  usd_value: amountOf(flow.usd_micros),
  path: flow.path,
  remote_chain: flow.remote_chain,
})

/** A range of whole seconds that ends at the subject's instant or before. */
function rangeOf({ facts, at, pick }: Subject, longest: number): { from: number; to: number } {
  const to = at - pick(HOUR)
  return { from: Math.max((facts.times[0] ?? 0) - HOUR, to - 1 - pick(longest)), to }
}

/** What a range has at most, and from when to when there is data: from the first block to the newest if not given. */
type Bounds = { most?: number; oldest?: number; newest?: number }

/** A random range, and the starts of those of its buckets that have data and have ended. */
export function bucketsOf(subject: Subject, interval: Interval, bounds: Bounds = {}) {
  const { facts, pick } = subject
  const seconds = SECONDS[interval]
  const { most = MOST, oldest = facts.times[0] ?? 0, newest = facts.times.at(-1) ?? 0 } = bounds
  // Buckets that later blocks complete would not be among those of the facts.
  const to = Math.min(rangeOf(subject, 1).to, newest - seconds)
  const from = to - 1 - pick(most * seconds)
  return { from, to, seconds, starts: bucketStarts(seconds, from, to, oldest, newest) }
}

type Bucket = (subject: Subject, start: number, seconds: number) => object

const pegOf: Bucket = ({ facts, stable }, start, seconds) =>
  pegBucket(between(facts.samples.get(stable) ?? [], start, start + seconds), start, seconds)

const supplyOf: Bucket = ({ facts, stable }, start, seconds) =>
  supplyBucket(facts.states.get(stable) ?? [], facts.supply.get(stable) ?? [], start, seconds)

/** From every snapshot that is due, each computed from the facts. */
const riskOf: Bucket = ({ facts, stable }, start, seconds) => {
  const snapshots = []
  for (
    let slot_at = Math.floor(start / RISK_PERIOD) * RISK_PERIOD;
    slot_at <= start + seconds;
    slot_at += RISK_PERIOD
  ) {
    const risk = scoreAt(facts, stable, slot_at)
    const extended = extendedAt(facts, stable, slot_at)?.score ?? 0
    if (risk) snapshots.push({ slot_at, composite: risk.composite, ...risk.components, extended })
  }
  // How and when it was published does not follow from the chain.
  const {
    methodology: _,
    revision: __,
    published_at: ___,
    extended_version: ____,
    ...bucket
  } = riskBucket(snapshots, start, seconds)
  return bucket
}

/** The first and the newest snapshot of a stable. A bucket ends with the snapshot at its end, so one second later. */
function scored({ facts, stable, horizons }: Subject): Bounds {
  const createdAt = facts.stables.find((row) => row.stable === stable)?.block_time ?? 0
  const afterFirst = (facts.times[0] ?? 0) + 1
  return {
    oldest: Math.ceil(Math.max(afterFirst, createdAt) / RISK_PERIOD) * RISK_PERIOD,
    newest: (horizons[0] ?? 0) + 1,
  }
}

/** The history of one figure, in a random interval and format. */
function series(name: string, bucketOf: Bucket, intervals: readonly Interval[], job?: 'risk'): Kind {
  const ask = (subject: Subject): Question => {
    const { stable, pick } = subject
    const interval = intervals[pick(intervals.length)] ?? '1h'
    const { from, to, seconds, starts } = bucketsOf(subject, interval, job && scored(subject))
    const format = FORMATS[pick(FORMATS.length)] ?? 'json'
    const data = starts.map((start) => bucketOf(subject, start, seconds))
    return {
      path: `stablecoins/${stable}/${name}/series`,
      query: { from, to, interval, format },
      expected: { data },
    }
  }
  return { name: `${name} series`, ask, ...(job !== undefined && { jobs: [job] }) }
}

/** One kind for each route that is about a range of time. */
export const RANGE_KINDS: readonly Kind[] = [
  series('peg', pegOf, INTERVALS),
  series('supply', supplyOf, INTERVALS),
  series('risk', riskOf, ['5m', '1h'], 'risk'),
  {
    name: 'liquidity series',
    ask: (subject) => {
      const { facts, stable, pick } = subject
      const [step, seconds] = pick(2) === 0 ? (['1m', 60] as const) : (['5m', 300] as const)
      const newest = facts.times.at(-1) ?? 0
      const to = Math.min(rangeOf(subject, 1).to, newest - seconds)
      const from = to - 1 - pick(MOST * seconds)
      const starts = bucketStarts(seconds, from, to, facts.times[0] ?? 0, newest)
      const depth = between(facts.depth.get(stable) ?? [], from, to + seconds)
      return {
        path: `stablecoins/${stable}/liquidity/series`,
        query: { from, to, step },
        expected: liquidityColumns(depth, starts, seconds),
      }
    },
  },
  {
    name: 'flows',
    ask: ({ facts, at, pick }) => {
      const hours = [1, 6, 24][pick(3)] ?? 24
      return {
        path: 'stablecoins/flows',
        query: { hours, as_of: iso(at) },
        // A block at that second is included.
        expected: flowsOracle(facts.flows, at + 1 - hours * HOUR, at + 1),
        read: byAddress,
      }
    },
  },
  {
    name: 'flow scores',
    ask: ({ facts, at, pick }) => {
      const end = Math.floor(at / QUARTER) * QUARTER
      const readFlows = {
        flows: facts.flows,
        created: new Map(facts.stables.map(({ stable, block_time }) => [stable, block_time])),
        read_since: logsReadSince(facts.stored, end),
      }
      return {
        path: 'stablecoins/flows/scores',
        query: { as_of: iso(at), limit: 1 + pick(500) },
        nextPage: (query, pages) => {
          const cursor = pages.at(-1)?.next_cursor
          return typeof cursor === 'string' ? { ...query, cursor } : null
        },
        expected: { window_end: iso(end), scores: flowScoresOracle(readFlows, end - QUARTER) },
        read: ({ pages }) => ({
          window_end: (pages as Body[])[0]?.window_end,
          scores: Object.fromEntries(
            (pages as Body[])
              .flatMap(({ scores }) => scores as Body[])
              .map((score) => [`${score.from_address} ${score.to_address}`, score]),
          ),
        }),
        // The newest blocks may not be stored for all families yet.
        ...(end > logsReadUntil(facts.stored) && { apart: 'not recomputed: blocks are missing after it' }),
      }
    },
  },
  {
    name: 'flow history',
    ask: (subject) => {
      const { facts } = subject
      const { from, to } = rangeOf(subject, MOST * HOUR)
      return {
        path: 'stablecoins/flows/history',
        query: { from, to },
        expected:
          to <= (facts.times[0] ?? 0)
            ? null
            : { ...flowsOracle(facts.flows, from, to), series: flowHoursOracle(facts.flows, from, to) },
        read: (body) => ({ ...byAddress(body), series: body.series }),
      }
    },
  },
  {
    name: 'flow export',
    ask: (subject) => {
      const { from, to } = rangeOf(subject, DAY)
      const format = FORMATS[subject.pick(FORMATS.length)] ?? 'json'
      const limit = format === 'json' || format === 'ndjson' ? 100_000 : MOST_DECODED
      const flows = subject.facts.flows.filter(({ block_time }) => block_time >= from && block_time < to)
      return {
        path: 'stablecoins/flows/export',
        query: { from, to, format, limit },
        expected: { data: flows.slice(0, limit).map(exported) },
      }
    },
  },
]
