import { scoreOracle } from './flow-anomalies.js'
import { flowScoresOracle } from './flow-scores.js'
import type { OracleFlow } from './flows.js'

const QUARTER = 900
const DAY = 86_400
const WEEK = 7 * DAY

type FlowDetector = {
  measure: 'anomaly' | 'z_score' | 'robust' | 'robust_z' | 'q_value'
  limit: number
  min_windows: number
}
type FlowLabel = { from: number; to: number; from_token: string; to_token: string; multiple: number }

type Side = 'above' | 'below'
/** A scored window of an edge: what each detector says of it. */
type Judged = { edge: string; start: number; isTrade: boolean; isSparse: boolean; sides: (Side | null)[] }
type Score = ReturnType<typeof flowScoresOracle>[string]

function sideOf(detector: FlowDetector, score: Score, z: ReturnType<typeof scoreOracle>): Side | null {
  const { measure, limit } = detector
  // Three deviations, whatever the limit.
  if (measure === 'robust') return score.unusual === null ? null : score.unusual === 'surge' ? 'above' : 'below'
  if (measure === 'robust_z') {
    if (score.robust_z === null || Math.abs(score.robust_z) < limit) return null
    return score.robust_z > 0 ? 'above' : 'below'
  }
  if (measure === 'q_value') {
    if (score.q_value === null || score.q_value > limit) return null
    if (score.silent_windows !== null) return 'below'
    const isSeldom = (score.activity_probability as number) <= 0.5
    return isSeldom || Number(score.observed_usd) > (score.median_active_usd as number) ? 'above' : 'below'
  }
  if (z === null || (score.observations ?? 0) < 10) {
    // A silence is judged by another week.
    return measure === 'anomaly' && z?.isAnomaly ? 'below' : null
  }
  const isFlagged = measure === 'anomaly' ? z.isAnomaly : Math.abs(z.z_score) >= limit
  return isFlagged ? (z.z_score > 0 ? 'above' : 'below') : null
}

/** All windows of [from, to) of all edges that have a score, if everything is read since the first block. */
function judgedWindows(
  flows: readonly OracleFlow[],
  detectors: readonly FlowDetector[],
  from: number,
  to: number,
): Judged[] {
  const judged: Judged[] = []
  const flowsByEdge = new Map<string, OracleFlow[]>()
  for (const flow of flows.filter(({ kind }) => kind !== 'bridge')) {
    const edge = `${flow.from_token} ${flow.to_token}`
    flowsByEdge.set(edge, [...(flowsByEdge.get(edge) ?? []), flow])
  }
  for (let start = from; start < to; start += QUARTER) {
    const scores = flowScoresOracle({ flows, created: new Map(), read_since: 0 }, start)
    for (const [edge, score] of Object.entries(scores)) {
      if (score.p_value === null) continue
      const z = scoreOracle(flowsByEdge.get(edge) ?? [], start)
      judged.push({
        edge,
        start,
        isTrade: score.silent_windows === null,
        isSparse: (score.active_share ?? 1) <= 0.1,
        sides: detectors.map((detector) => sideOf(detector, score, z)),
      })
    }
  }
  return judged
}

type FoundRun = { edge: string; side: Side; starts: number[] }

/** Flagged windows of an edge in succession and on one side. */
function runsOf(judged: readonly Judged[], at: number): FoundRun[] {
  const runs: FoundRun[] = []
  for (const edge of new Set(judged.map((score) => score.edge)))
    for (const { start, sides } of judged.filter((score) => score.edge === edge)) {
      const side = sides[at]
      if (!side) continue
      const last = runs.at(-1)
      if (last?.edge === edge && last.side === side && last.starts.at(-1) === start - QUARTER) last.starts.push(start)
      else runs.push({ edge, side, starts: [start] })
    }
  return runs
}

/** The least value that a share of the values does not exceed. */
const atRank = (values: readonly number[], share: number): number | null =>
  values.toSorted((a, b) => a - b).find((_, i) => (i + 1) / values.length >= share) ?? null

const share = (part: number, total: number): number | null => (total > 0 ? part / total : null)

/**
 * The figures of a backtest of flow anomalies, from all flows, for detectors over the windows of [from, to), both multiples of 15
 * minutes, if everything is read. Written from the definitions alone.
 */
export function flowBacktestOracle(
  flows: readonly OracleFlow[],
  detectors: readonly FlowDetector[],
  labels: readonly FlowLabel[],
  { from, to }: { from: number; to: number },
) {
  const judged = judgedWindows(flows, detectors, from, to)
  const touches = (label: FlowLabel, edge: string, start: number): boolean =>
    edge === `${label.from_token} ${label.to_token}` && label.from < start + QUARTER && label.to > start
  const judgedQuarters = new Set(judged.map(({ edge, start }) => `${edge} ${start}`))
  const startsOf = (label: FlowLabel): number[] => {
    const starts = []
    for (let at = Math.floor(label.from / QUARTER) * QUARTER; at < label.to; at += QUARTER) starts.push(at)
    return starts
  }
  const measured = labels.filter((label) =>
    startsOf(label).every((start) => judgedQuarters.has(`${label.from_token} ${label.to_token} ${start}`)),
  )
  const ordinary = judged.filter(({ edge, start }) => !labels.some((label) => touches(label, edge, start)))
  return detectors.map(({ min_windows }, at) => {
    const events = runsOf(judged, at).filter(({ starts }) => starts.length >= min_windows)
    const belongs = (label: FlowLabel, { edge, side, starts }: FoundRun): boolean =>
      side === (label.multiple > 1 ? 'above' : 'below') && starts.some((start) => touches(label, edge, start))
    const expected = measured.filter((label) => startsOf(label).length >= min_windows)
    const firsts = expected.map((label) => ({ label, first: events.find((event) => belongs(label, event)) }))
    const delays = firsts.flatMap(({ label, first }) =>
      first ? [Math.max(0, (first.starts[min_windows - 1] as number) + QUARTER - label.from)] : [],
    )
    const clear = firsts.filter(({ label: { multiple } }) => multiple >= 10 || multiple <= 0.1)
    const falseAlarms = events.filter((event) => !labels.some((label) => belongs(label, event))).length
    const recall = share(delays.length, expected.length)
    const precision = share(events.length - falseAlarms, events.length)
    const flagged = ordinary.filter(({ sides }) => sides[at] !== null)
    const isSparseTrade = ({ isTrade, isSparse }: Judged): boolean => isTrade && isSparse
    const sparse = ordinary.filter(isSparseTrade)
    return {
      edges: new Set(judged.map(({ edge }) => edge)).size,
      edge_weeks: (judged.length * QUARTER) / WEEK,
      unread_seconds: 0,
      events: events.length,
      events_per_day: share(events.length * DAY, to - from),
      labels: expected.length,
      smaller_labels: measured.length - expected.length,
      unmeasured_labels: labels.length - measured.length,
      found: delays.length,
      recall,
      clear_labels: clear.length,
      clear_recall: share(clear.filter(({ first }) => first).length, clear.length),
      false_alarms: falseAlarms,
      precision,
      f1: recall === null || precision === null ? null : recall + precision > 0 ? 2 / (1 / recall + 1 / precision) : 0,
      delay_p50_seconds: atRank(delays, 0.5),
      delay_p95_seconds: atRank(delays, 0.95),
      false_alarms_per_edge_week: share(falseAlarms * WEEK, judged.length * QUARTER),
      ordinary_windows: ordinary.length,
      flagged_windows: flagged.length,
      flagged_windows_share: share(flagged.length, ordinary.length),
      sparse_trades: sparse.length,
      flagged_sparse_trades: flagged.filter(isSparseTrade).length,
      flagged_sparse_trades_share: share(flagged.filter(isSparseTrade).length, sparse.length),
    }
  })
}
