import type { OracleFlow } from './flows.js'

/** An anomaly as the API returns it. */
export type OracleAnomaly = {
  from_token: string
  to_token: string
  kind: 'surge' | 'drop' | 'silence'
  window_start: string
  window_end: string
  observed_flow_usd: number
  baseline_mean_usd: number
  baseline_stddev_usd: number
  active_mean_usd: number
  active_stddev_usd: number
  z_score: number
  tx_count: number
  detected_at: string
  silent_windows: number | null
  longest_silence_windows: number | null
  silence_probability: number | null
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

/** Count, sum and spread of values, all multiplied by the count, so that nothing is rounded. */
function statistics(values: readonly bigint[]) {
  const n = BigInt(values.length)
  const total = values.reduce((sum, value) => sum + value, 0n)
  const squares = values.reduce((sum, value) => sum + (n * value - total) ** 2n, 0n)
  return { n, total, squares, stddev: n === 0n ? 0 : Math.sqrt(Number(squares) / Number(n)) / Number(n) }
}

/** Whether `distance` / n is at least three of the deviations of a baseline with these statistics. */
const isThree = (distance: bigint, n: bigint, stats: { n: bigint; squares: bigint }): boolean =>
  // |distance| / n >= 3 sqrt(squares / of.n) / of.n
  distance * distance * stats.n * stats.n * stats.n >= 9n * stats.squares * n * n

/** The quarters of one edge in [from, to), none before its first flow. */
function quartersOf(flows: ReadonlyMap<number, readonly OracleFlow[]>, from: number, to: number) {
  const first = Math.min(...flows.keys())
  const quarters = []
  for (let at = Math.max(from, first); at < to; at += QUARTER) {
    const quarterFlows = flows.get(at) ?? []
    quarters.push({ isActive: quarterFlows.length > 0, value: knownValue(quarterFlows) })
  }
  return quarters
}

type Quarters = ReturnType<typeof quartersOf>

const knownValues = (quarters: Quarters): bigint[] => quarters.flatMap(({ value }) => (value === null ? [] : [value]))
const observed = (quarters: Quarters): bigint[] =>
  quarters.flatMap(({ isActive, value }) => (isActive && value !== null ? [value] : []))

/** To nine decimals, halves to the even digit. */
function nineDecimals(value: number): number {
  const below = Math.floor(value * 1e9)
  const isHalf = value * 1e9 - below === 0.5
  return (isHalf ? below + (below % 2) : Math.round(value * 1e9)) / 1e9
}

/** The silence that the quarter from `start` is the last one of, if it is the one at which the silence is announced. */
function silenceOracle(flows: ReadonlyMap<number, readonly OracleFlow[]>, start: number) {
  const last = Math.max(...[...flows.keys()].filter((at) => at < start))
  const silent = (start - last) / QUARTER
  if (!Number.isFinite(last) || silent > 672) return null
  const usual = quartersOf(flows, last + QUARTER - WEEK, last + QUARTER)
  if (observed(usual).length < 10) return null
  const longest = Math.max(
    ...usual
      .map(({ isActive }) => (isActive ? 'x' : '-'))
      .join('')
      .split('x')
      .map((run) => run.length),
  )
  const values = statistics(knownValues(usual))
  const active = usual.filter(({ isActive }) => isActive).length
  const silentShare = (usual.length - active + 0.5) / (usual.length + 1)
  let improbable = 1
  while (silentShare ** improbable >= 0.00135) improbable++
  const leastWindows =
    values.squares === 0n ? Math.max(2, improbable) : isThree(values.total, values.n, values) ? 1 : improbable
  if (silent !== Math.max(longest + 1, leastWindows)) return null
  return {
    silent_windows: silent,
    longest_silence_windows: longest,
    silence_probability: nineDecimals(silentShare ** silent),
  }
}

const NO_SILENCE = { silent_windows: null, longest_silence_windows: null, silence_probability: null }

/** The score of the quarter of an hour from `start` on, for the flows of one edge; null when it has none. */
export function scoreOracle(flows: readonly OracleFlow[], start: number) {
  const quarters = new Map<number, OracleFlow[]>()
  for (const flow of flows) {
    const at = Math.floor(flow.block_time / QUARTER) * QUARTER
    quarters.set(at, [...(quarters.get(at) ?? []), flow])
  }
  return scoreQuarter(quarters, start)
}

function scoreQuarter(quarters: ReadonlyMap<number, readonly OracleFlow[]>, start: number) {
  if (Math.min(...quarters.keys()) >= start) return null
  const quarterFlows = quarters.get(start) ?? []
  const value = knownValue(quarterFlows)
  const week = quartersOf(quarters, start - WEEK, start)
  const [baseline, active] = [statistics(knownValues(week)), statistics(observed(week))]
  if (value === null || active.n === 0n || baseline.squares === 0n) return null
  const silence = quarterFlows.length === 0 ? silenceOracle(quarters, start) : null
  if (quarterFlows.length > 0 && active.n < 10n) return null
  const distance = baseline.n * value - baseline.total
  const above = active.n * value - active.total
  const standsOut =
    quarterFlows.length > 0 &&
    isThree(distance, baseline.n, baseline) &&
    (distance < 0n || (above > 0n && isThree(above, active.n, active) && isThree(above, active.n, baseline)))
  return {
    isAnomaly: silence !== null || standsOut,
    kind: silence ? ('silence' as const) : distance > 0n ? ('surge' as const) : ('drop' as const),
    observed_flow_usd: Number(value) / 1e6,
    baseline_mean_usd: Number(baseline.total) / Number(baseline.n) / 1e6,
    baseline_stddev_usd: baseline.stddev / 1e6,
    active_mean_usd: Number(active.total) / Number(active.n) / 1e6,
    active_stddev_usd: active.stddev / 1e6,
    z_score: Number(distance) / Number(baseline.n) / baseline.stddev,
    tx_count: new Set(quarterFlows.map(({ tx_hash }) => tx_hash)).size,
    ...(silence ?? NO_SILENCE),
  }
}

/**
 * The anomalies of all edges in the quarters of an hour from `from` on that ended by `until`, in the order of the
 * interface, computed from all flows for each quarter. Written from the definition alone.
 */
export function flowAnomaliesOracle(flows: readonly OracleFlow[], from: number, until: number): OracleAnomaly[] {
  const edges = new Map<string, Map<number, OracleFlow[]>>()
  for (const flow of flows) {
    if (flow.kind === 'bridge') continue
    const key = `${flow.from_token} ${flow.to_token}`
    const quarters = edges.get(key) ?? new Map<number, OracleFlow[]>()
    const at = Math.floor(flow.block_time / QUARTER) * QUARTER
    quarters.set(at, [...(quarters.get(at) ?? []), flow])
    edges.set(key, quarters)
  }
  const anomalies: OracleAnomaly[] = []
  for (let start = Math.ceil(from / QUARTER) * QUARTER; start + QUARTER <= until; start += QUARTER) {
    for (const [edge, quarters] of edges) {
      // As of the end of the quarter.
      const score = scoreQuarter(new Map([...quarters].filter(([at]) => at <= start)), start)
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
