import type { OracleFlow } from './flows.js'

/** An anomaly as the API returns it. */
export type OracleAnomaly = {
  from_token: string
  to_token: string
  window_start: string
  window_end: string
  observed_flow_usd: number
  baseline_mean_usd: number
  baseline_stddev_usd: number
  z_score: number
  tx_count: number
  detected_at: string
}

const QUARTER = 15 * 60
const WEEK = 7 * 24 * 60 * 60

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** The value of one edge in a quarter of an hour; null if there are flows but none has a value. */
function knownValue(flows: readonly OracleFlow[]): bigint | null {
  const valued = flows.filter(({ usd_micros }) => usd_micros !== null)
  if (flows.length > 0 && valued.length === 0) return null
  return valued.reduce((sum, { usd_micros }) => sum + BigInt(usd_micros as string), 0n)
}

/** The score of the quarter of an hour from `start` on, for the flows of one edge; null when it has none. */
export function scoreOracle(flows: readonly OracleFlow[], start: number) {
  const within = (from: number) => flows.filter(({ block_time }) => block_time >= from && block_time < from + QUARTER)
  const first = Math.min(...flows.map(({ block_time }) => block_time))
  const baseline: bigint[] = []
  let observations = 0
  for (let from = start - WEEK; from < start; from += QUARTER) {
    if (from + QUARTER <= first) continue
    const here = within(from)
    const value = knownValue(here)
    if (value === null) continue
    baseline.push(value)
    if (here.length > 0) observations++
  }
  const observed = knownValue(within(start))
  if (observed === null || observations < 10) return null
  // All multiplied by their count, so that nothing is rounded: distances from the mean, and the sum of their squares.
  const n = BigInt(baseline.length)
  const total = baseline.reduce((sum, value) => sum + value, 0n)
  const squares = baseline.reduce((sum, value) => sum + (n * value - total) ** 2n, 0n)
  if (squares === 0n) return null
  const distance = n * observed - total
  const stddev = Math.sqrt(Number(squares) / Number(n))
  return {
    // |distance| / sqrt(squares / n) >= 3
    isAnomaly: distance * distance * n >= 9n * squares,
    observed_flow_usd: Number(observed) / 1e6,
    baseline_mean_usd: Number(total) / Number(n) / 1e6,
    baseline_stddev_usd: stddev / Number(n) / 1e6,
    z_score: Number(distance) / stddev,
    tx_count: new Set(within(start).map(({ tx_hash }) => tx_hash)).size,
  }
}

/**
 * The anomalies of all edges in the quarters of an hour from `from` on that ended by `until`, in the order of the
 * interface, computed from all flows for each quarter. Written from the definition alone.
 */
export function flowAnomaliesOracle(flows: readonly OracleFlow[], from: number, until: number): OracleAnomaly[] {
  const edges = new Map<string, OracleFlow[]>()
  for (const flow of flows) {
    if (flow.kind === 'bridge') continue
    const key = `${flow.from_token} ${flow.to_token}`
    edges.set(key, [...(edges.get(key) ?? []), flow])
  }
  const anomalies: OracleAnomaly[] = []
  for (let start = Math.ceil(from / QUARTER) * QUARTER; start + QUARTER <= until; start += QUARTER) {
    for (const [edge, own] of edges) {
      const score = scoreOracle(own, start)
      if (!score?.isAnomaly) continue
      const { isAnomaly: _, ...figures } = score
      const [from_token = '', to_token = ''] = edge.split(' ')
      const window_end = iso(start + QUARTER)
      anomalies.push({
        from_token,
        to_token,
        window_start: iso(start),
        window_end,
        ...figures,
        detected_at: window_end,
      })
    }
  }
  return anomalies.sort((a, b) =>
    a.window_start === b.window_start
      ? Math.abs(b.z_score) - Math.abs(a.z_score)
      : a.window_start < b.window_start
        ? 1
        : -1,
  )
}
