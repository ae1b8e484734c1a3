import type { ClickHouseClient } from '@clickhouse/client'
import type { Ledger } from '../../clickhouse/chain/ledger.js'
import { readSince } from '../../clickhouse/chain/missing.js'
import { FLOW_WINDOW_SECONDS } from '../../clickhouse/flows/buckets.js'
import { type EdgeScore, edgeScores, unusualOf } from '../../clickhouse/flows/edge-scores.js'
import { type EdgeWindow, edgeWindows } from '../../clickhouse/flows/edge-windows.js'
import { type FlowScore, flowZScores, plainZScores } from '../../clickhouse/flows/scores.js'
import type { FlowDetector } from './flow-detectors.js'
import { edgeKey, type FlowLabel } from './flow-labels.js'
import type { Range } from './prices.js'

/** An edge is sparse in a window if at most this share of the windows of its baseline has a flow. */
const SPARSE_SHARE = 0.1

type Direction = 'above' | 'below'

/** A run of adjacent windows of an edge that a detector flags in one direction. Times in unix seconds. */
export type FlowEvent = {
  direction: Direction
  started_at: number
  confirmed_at: number
  ended_at: number
}

/** Numbers of windows outside the labels, and of those with a flow on an edge that was sparse then. */
export type Counts = { windows: number; sparse_trades: number }

/** What is known of an edge in a range. */
export type EdgeRun = {
  from_token: string
  to_token: string
  measured_seconds: number
  /** The parts of the range in which it has no score. */
  gaps: Range[]
  /** The measured windows. */
  counts: Counts
  /** Of each detector, in their order. */
  byDetector: { events: FlowEvent[]; flagged: Counts }[]
}

export type FlowRun = {
  /** The whole windows of what was asked. */
  range: Range
  edges: EdgeRun[]
  /** The parts of the range whose blocks are not all read: nothing has a score there. */
  unread: Range[]
}

/** A window of an edge that has a score, and what each detector thinks of it. */
export type SeenWindow = {
  start: number
  isSparseTrade: boolean
  flags: readonly (Direction | null)[]
}

/** Adds a part of the range to others, which are in order and end by its start. */
function extend(parts: Range[], { from, to }: Range): void {
  const last = parts.at(-1)
  if (last?.to === from) last.to = to
  else if (from < to) parts.push({ from, to })
}

/** Collects the windows of an edge, in order of time. */
export class EdgeTally {
  readonly #run: EdgeRun
  readonly #detectors: readonly FlowDetector[]
  readonly #range: Range
  readonly #labels: readonly Range[]
  /** Of each detector, the flagged windows that are not over yet. */
  readonly #open: ({ direction: Direction; from: number; to: number } | null)[]
  #until: number

  constructor(
    edge: Pick<EdgeRun, 'from_token' | 'to_token'>,
    detectors: readonly FlowDetector[],
    range: Range,
    labels: readonly Range[],
  ) {
    const none = (): Counts => ({ windows: 0, sparse_trades: 0 })
    const byDetector = detectors.map(() => ({ events: [], flagged: none() }))
    this.#run = { ...edge, measured_seconds: 0, gaps: [], counts: none(), byDetector }
    this.#detectors = detectors
    this.#range = range
    this.#labels = labels
    this.#open = detectors.map(() => null)
    this.#until = range.from
  }

  add({ start, isSparseTrade, flags }: SeenWindow): void {
    const end = start + FLOW_WINDOW_SECONDS
    extend(this.#run.gaps, { from: this.#until, to: start })
    this.#until = end
    this.#run.measured_seconds += FLOW_WINDOW_SECONDS
    const isOrdinary = !this.#labels.some(({ from, to }) => from < end && to > start)
    const count = (counts: Counts): void => {
      if (!isOrdinary) return
      counts.windows++
      if (isSparseTrade) counts.sparse_trades++
    }
    count(this.#run.counts)
    for (const [i, { events, flagged }] of this.#run.byDetector.entries()) {
      const direction = flags[i] ?? null
      if (direction) count(flagged)
      const open = this.#open[i]
      if (open && direction === open.direction && open.to === start) {
        open.to = end
        continue
      }
      this.#close(i, events)
      this.#open[i] = direction && { direction, from: start, to: end }
    }
  }

  end(): EdgeRun {
    extend(this.#run.gaps, { from: this.#until, to: this.#range.to })
    for (const [i, { events }] of this.#run.byDetector.entries()) this.#close(i, events)
    return this.#run
  }

  #close(i: number, events: FlowEvent[]): void {
    const open = this.#open[i]
    const leastSeconds = (this.#detectors[i] as FlowDetector).min_windows * FLOW_WINDOW_SECONDS
    if (open && open.to - open.from >= leastSeconds)
      events.push({
        direction: open.direction,
        started_at: open.from,
        confirmed_at: open.from + leastSeconds,
        ended_at: open.to,
      })
    this.#open[i] = null
  }
}

/** The side on which a robust score is unusual: a flow on an edge that is seldom active can only be more than usual. */
function sideOf({
  silent_windows,
  robust_z,
  observed_usd,
  median_active_usd,
  activity_probability,
}: EdgeScore): Direction {
  if (silent_windows !== null) return 'below'
  const isLarge = robust_z === null ? Number(observed_usd) > (median_active_usd ?? 0) : robust_z > 0
  return isLarge || (activity_probability ?? 1) <= 0.5 ? 'above' : 'below'
}

/** The side on which a detector flags an edge in a window, given its robust score and the z-scores beyond each limit; null if it does not. */
function flagOf(
  { measure, limit }: FlowDetector,
  window: EdgeWindow,
  score: EdgeScore,
  zScores: ReadonlyMap<string, ReadonlyMap<string, FlowScore>>,
): Direction | null {
  switch (measure) {
    case 'robust': {
      const kind = unusualOf(window, limit)
      return kind && (kind === 'surge' ? 'above' : 'below')
    }
    case 'robust_z':
      if (score.robust_z === null || Math.abs(score.robust_z) < limit) return null
      return score.robust_z > 0 ? 'above' : 'below'
    case 'q_value':
      return (score.q_value ?? 1) <= limit ? sideOf(score) : null
    default: {
      const far = zScores.get(`${measure} ${limit}`)?.get(edgeKey(score.from_address, score.to_address))
      return far ? (far.kind === 'surge' ? 'above' : 'below') : null
    }
  }
}

const Z_QUERIES = { anomaly: flowZScores, z_score: plainZScores }

/** The z-scores of a window beyond each limit of the detectors, by measure and limit, and by edge. */
async function zScoresOf(
  clickhouse: ClickHouseClient,
  detectors: readonly FlowDetector[],
  window: { window_start: Date; read_since: number },
  signal: AbortSignal,
): Promise<Map<string, Map<string, FlowScore>>> {
  const scoresOf = new Map<string, Promise<FlowScore[]>>()
  for (const { measure, limit } of detectors) {
    if (measure !== 'anomaly' && measure !== 'z_score') continue
    const key = `${measure} ${limit}`
    if (!scoresOf.has(key))
      scoresOf.set(key, Z_QUERIES[measure](clickhouse, { ...window, min_abs_z: limit }, { signal }))
  }
  const rows = await Promise.all(scoresOf.values())
  return new Map(
    [...scoresOf.keys()].map((key, i) => [
      key,
      new Map((rows[i] as FlowScore[]).map((row) => [edgeKey(row.from_token, row.to_token), row])),
    ]),
  )
}

/**
 * Runs detectors over the windows that lie within [from, to), each with what was known when it ended. An edge is measured in
 * the windows in which it has a p-value. With `stables`, only edges that begin or end with one of them count, but q-values
 * are still over all edges. Rejects with QueryError.
 */
export async function runFlowDetectors(
  clickhouse: ClickHouseClient,
  detectors: readonly FlowDetector[],
  { from, to }: Range,
  {
    ledger,
    labels,
    stables,
  }: { ledger: Pick<Ledger, 'ranges'>; labels: readonly FlowLabel[]; stables: readonly string[] | null },
  signal: AbortSignal,
): Promise<FlowRun> {
  const range = {
    from: Math.ceil(from / FLOW_WINDOW_SECONDS) * FLOW_WINDOW_SECONDS,
    to: Math.floor(to / FLOW_WINDOW_SECONDS) * FLOW_WINDOW_SECONDS,
  }
  const tallies = new Map<string, EdgeTally>()
  const tallyOf = ({ from_address: from_token, to_address: to_token }: EdgeScore): EdgeTally => {
    const key = edgeKey(from_token, to_token)
    const existing = tallies.get(key)
    if (existing) return existing
    const edgeLabels = labels.filter((label) => label.from_token === from_token && label.to_token === to_token)
    const tally = new EdgeTally({ from_token, to_token }, detectors, range, edgeLabels)
    tallies.set(key, tally)
    return tally
  }
  const isWanted = ({ from_address, to_address }: EdgeScore): boolean =>
    stables === null || stables.includes(from_address) || stables.includes(to_address)
  const unread: Range[] = []
  for (let start = range.from; start < range.to; start += FLOW_WINDOW_SECONDS) {
    const end = start + FLOW_WINDOW_SECONDS
    const read_since = readSince(ledger, 'logs', end)
    if (read_since > start) {
      extend(unread, { from: start, to: end })
      continue
    }
    const window = { window_start: new Date(start * 1000), read_since }
    const [edges, zScores] = await Promise.all([
      edgeWindows(clickhouse, window, { signal }),
      zScoresOf(clickhouse, detectors, window, signal),
    ])
    const windowOf = new Map(edges.map((edge) => [edgeKey(edge.from_address, edge.to_address), edge]))
    for (const score of edgeScores(edges, window.window_start)) {
      if (score.p_value === null || !isWanted(score)) continue
      const edge = windowOf.get(edgeKey(score.from_address, score.to_address)) as EdgeWindow
      tallyOf(score).add({
        start,
        isSparseTrade: score.silent_windows === null && (score.active_share ?? 1) <= SPARSE_SHARE,
        flags: detectors.map((detector) => flagOf(detector, edge, score, zScores)),
      })
    }
  }
  return { range, edges: [...tallies.values()].map((tally) => tally.end()), unread }
}
