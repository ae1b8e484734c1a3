import type { OracleFlow } from './flows.js'

const QUARTER = 900
const HOUR = 3600
const DAY = 86_400
const WEEK = 7 * DAY

/** Which flows are known: everything since `read_since` (0: since the first block), and when the stables were made. */
export type KnownFlows = {
  flows: readonly OracleFlow[]
  created: ReadonlyMap<string, number>
  read_since: number
}

/** The volume of each quarter of an hour with a flow, null if none of its flows has a value, and its transactions; by its start. */
type Quarters = Map<number, { volume: bigint | null; transactions: Set<string> }>

const logOf = (micros: bigint): number => Math.floor(Math.log(Math.max(Number(micros), 1)) * 1e6 + 0.5) / 1e6

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] as number) + (sorted[Math.floor(half)] as number)) / 2
}

/** USD with six digits, of the logarithm of a volume in millionths. */
const dollars = (log: number): number => Number((Math.exp(log) / 1e6).toPrecision(6))

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** What is beyond `value`, by one of the fits to the largest of some values: their number, threshold and total excess. */
type Beyond = (peaks: number, threshold: number, excess: number) => number

/** The largest result over the thresholds that peaks are counted from, where each peak exceeds its own by at least `least`. */
function overThresholds(values: readonly number[], least: number, beyond: Beyond): number {
  const sorted = values.toSorted((a, b) => b - a)
  const results = []
  for (const peaks of [2, 5, 10, 20, 40]) {
    if (4 * peaks > sorted.length || (peaks === 2 && sorted.length >= 100)) continue
    const threshold = sorted[peaks] as number
    const excess = sorted.slice(0, peaks).reduce((sum, value) => sum + (value - threshold), 0)
    results.push(beyond(peaks, threshold, Math.max(excess, least * peaks)))
  }
  return Math.max(...results)
}

/** How many independent values a new one counts as, by the correlation of neighbours. */
function weightOf(logs: readonly number[]): number {
  if (Math.max(...logs) === Math.min(...logs)) return 1
  const center = mean(logs)
  const products = logs.slice(1).map((log, i) => (log - center) * ((logs[i] as number) - center))
  const rho = (mean(products) * products.length) / logs.reduce((sum, log) => sum + (log - center) ** 2, 0)
  return (1 - Math.min(0.99, Math.max(0, rho)) ** 2) ** -0.5
}

/** The probability of a value as large, where 2 % are no difference: by rank, and by the tail above all of them. */
function shareAbove(log: number, logs: readonly number[], weight: number): number {
  const m = logs.length
  const rank = countOf(logs, (other) => Math.round((other - log) * 1e6) >= -20_000)
  if (rank > 0) return (rank + weight) / (m + weight)
  const tail = overThresholds(
    logs,
    0.02,
    (peaks, threshold, excess) =>
      (((peaks + 1) / (m + 1)) * excess ** peaks) / (excess + Math.max(0, log - 0.02 - threshold)) ** peaks,
  )
  return Math.min(weight / (m + weight), tail)
}

/** The largest logarithm that is not among the highest 2.5 %. */
function highest(logs: readonly number[], weight: number): number {
  const m = logs.length
  const ranks = 0.025 * (m + weight) - weight
  const sorted = logs.toSorted((a, b) => b - a)
  if (ranks >= 0) return (sorted[Math.floor(ranks)] as number) + 0.02
  const tail = overThresholds(logs, 0.02, (peaks, threshold, excess) => {
    const share = (0.025 * (m + 1)) / (peaks + 1)
    return threshold - excess + excess / share ** (1 / peaks)
  })
  return Math.max(sorted[0] as number, tail) + 0.02
}

/** The volumes in [from, to), none before the first flow; 0 where there is none, null where it is not known. */
function volumesIn(quarters: Quarters, first: number, from: number, to: number) {
  const volumes: { start: number; volume: bigint | null; isActive: boolean; transactions: number }[] = []
  for (let start = Math.max(from, first); start < to; start += QUARTER) {
    const quarter = quarters.get(start)
    volumes.push({
      start,
      isActive: quarter !== undefined,
      volume: quarter ? quarter.volume : 0n,
      transactions: quarter?.transactions.size ?? 0,
    })
  }
  return volumes
}

const shareOf = (active: number, windows: number): number => (active + 1) / (windows + 1)
const countOf = <One>(items: readonly One[], matches: (item: One) => boolean): number => items.filter(matches).length

/** What a quarter is compared with: logarithms of volumes in order of time, and of numbers of transactions. */
type Sample = { logs: number[]; counts: number[] }

const sampleOf = (windows: ReturnType<typeof volumesIn>): Sample => {
  const active = windows.filter(({ isActive, volume }) => isActive && volume !== null)
  return {
    logs: active.map(({ volume }) => logOf(volume as bigint)),
    counts: active.map(({ transactions }) => logOf(BigInt(transactions))),
  }
}

/** Robust deviations from the median: infinitely many, of either side, if all of the sample is equal. */
function deviationsFrom(sample: readonly number[], log: number): number {
  const center = median(sample)
  const gaps = sample.map((other) => Math.abs(other - center))
  const spread = Math.round(median(gaps) * 4e6) / 4e6 / 0.6745 || 1.253314 * mean(gaps)
  const distance = Math.round((log - center) * 2e6) / 2e6
  if (distance === 0) return 0
  return gaps.every((gap) => Math.round(gap * 2e6) === 0) ? distance * Number.POSITIVE_INFINITY : distance / spread
}

/** The nearest to 0 of some distances, if all are on one side of it. */
function nearest(distances: readonly number[]): number | null {
  const finite = distances.filter(Number.isFinite)
  if (finite.length === 0) return null
  if (finite.some((a) => finite.some((b) => a * b <= 0))) return 0
  return finite.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a))
}

/** How many more transactions than the median of a sample, on a scale on which chance alone has a deviation of 1. */
const countsAbove = (transactions: number, counts: readonly number[]): number =>
  Math.sqrt(4 * transactions + 1.5) - Math.sqrt(4 * Math.exp(median(counts)) + 1.5)

function silenceOf(quarters: Quarters, first: number, start: number, isReadFrom: (from: number) => boolean) {
  const last = Math.max(...[...quarters.keys()].filter((at) => at < start))
  const silent_windows = (start - last) / QUARTER
  if (silent_windows > 672) return null
  const usual = volumesIn(quarters, first, last + QUARTER - WEEK, last + QUARTER)
  if (countOf(usual, ({ isActive, volume }) => isActive && volume !== null) < 10) return null
  if (!isReadFrom(last + QUARTER - WEEK)) return null
  const runs = usual.map(({ isActive }) => (isActive ? 'x' : '-')).join('')
  // Each flow ends a silence, most of them of no window.
  const silences = runs.split('x').slice(0, -1)
  const lengths = silences.map((run) => run.length)
  const chanceOf = (silent: number): number => {
    if (silent <= Math.max(...lengths)) return 1
    const windows = overThresholds(
      lengths,
      1,
      (peaks, threshold, excess) =>
        ((((peaks + 1) / (lengths.length + 1)) * excess) / (peaks - 1)) *
        (excess / (excess + Math.max(0, silent - threshold))) ** (peaks - 1),
    )
    return Math.min(1, (2 * windows * lengths.length) / usual.length)
  }
  const p_value = chanceOf(silent_windows)
  // Only the window that makes it improbable.
  const isNew = p_value <= 0.001 && chanceOf(silent_windows - 1) > 0.001
  return { silent_windows, p_value, unusual: isNew ? 'silence' : null }
}

/** The score of one edge in the quarter from `start`, without its q-value. */
function scoreQuarter(quarters: Quarters, start: number, isReadFrom: (from: number) => boolean) {
  const first = Math.min(...quarters.keys())
  const quarter = quarters.get(start)
  const isActive = quarter !== undefined
  const observed = quarter ? quarter.volume : 0n
  const tx_count = quarter?.transactions.size ?? 0
  const isRead = isReadFrom(start - WEEK)
  const baseline = volumesIn(quarters, first, start - WEEK, start).filter(({ volume }) => volume !== null)
  const week = sampleOf(baseline)
  const n = week.logs.length
  const isMeasured = isRead && n >= 10
  const month = volumesIn(quarters, first, start - 28 * DAY, start)
  const isByHour = first <= start - 28 * DAY && isReadFrom(start - 28 * DAY)
  const ofHour = month.filter(
    (window) => window.volume !== null && Math.floor((window.start % DAY) / HOUR) === Math.floor((start % DAY) / HOUR),
  )
  const hour = sampleOf(ofHour)
  const samples = isByHour && hour.logs.length >= 10 ? [week, hour] : [week]
  const activity = isByHour ? shareOf(hour.logs.length, ofHour.length) : shareOf(n, baseline.length)
  const base = {
    observed_usd: observed === null ? null : `${observed / 1_000_000n}.${`${observed % 1_000_000n}`.padStart(6, '0')}`,
    tx_count,
    baseline_windows: isRead ? baseline.length : null,
    observations: isRead ? n : null,
    active_share: isRead && baseline.length > 0 ? n / baseline.length : null,
    median_active_usd: isRead && n > 0 ? dollars(median(week.logs)) : null,
    activity_probability: isMeasured ? activity : null,
    is_by_hour: isMeasured && isByHour,
  }
  const none = { robust_z: null, tx_count_z: null, silent_windows: null, p_value: null, unusual: null }
  const silence = isActive ? null : (silenceOf(quarters, first, start, isReadFrom) ?? none)
  if (!isMeasured) return { ...base, ...none, expected_low_usd: null, expected_high_usd: null, ...silence }
  const sides = samples.map(({ logs }) => ({ logs, negated: logs.map((log) => -log), weight: weightOf(logs) }))
  const range = {
    expected_low_usd: dollars(Math.min(...sides.map(({ negated, weight }) => -highest(negated, weight)))),
    expected_high_usd: dollars(Math.max(...sides.map(({ logs, weight }) => highest(logs, weight)))),
  }
  if (!isActive || observed === null) return { ...base, ...range, ...none, ...silence }
  const log = logOf(observed)
  const above = Math.max(...sides.map(({ logs, weight }) => shareAbove(log, logs, weight)))
  const below = Math.max(...sides.map(({ negated, weight }) => shareAbove(-log, negated, weight)))
  const robust_z = nearest(samples.map(({ logs }) => deviationsFrom(logs, log)))
  const tx_count_z = nearest(
    samples.flatMap(({ counts }) => [deviationsFrom(counts, logOf(BigInt(tx_count))), countsAbove(tx_count, counts)]),
  )
  const isLarge = (robust_z ?? 0) >= 3 && above <= 0.025
  const isSmall = (robust_z ?? 0) <= -3 && below <= 0.025 && activity > 0.5
  return {
    ...base,
    ...range,
    robust_z,
    tx_count_z,
    silent_windows: null,
    p_value: Math.min(1, 2 * activity * above, 2 * (1 - activity + activity * below)),
    unusual: isLarge || (tx_count_z ?? 0) >= 3 ? 'surge' : isSmall ? 'drop' : null,
  }
}

/** The scores of all edges that had a flow before `start` + 900, by their addresses. Written from the definition alone. */
export function flowScoresOracle({ flows, created, read_since }: KnownFlows, start: number) {
  const edges = new Map<string, Quarters>()
  for (const { kind, from_token, to_token, usd_micros, block_time, tx_hash } of flows) {
    const at = Math.floor(block_time / QUARTER) * QUARTER
    if (kind === 'bridge' || at > start) continue
    const key = `${from_token} ${to_token}`
    const quarters = edges.get(key) ?? (new Map() as Quarters)
    edges.set(key, quarters)
    const { volume, transactions } = quarters.get(at) ?? { volume: null, transactions: new Set<string>() }
    transactions.add(tx_hash)
    quarters.set(at, { transactions, volume: usd_micros === null ? volume : (volume ?? 0n) + BigInt(usd_micros) })
  }
  const scores = [...edges].map(([key, quarters]) => {
    const isNew = read_since === 0 || key.split(' ').some((stable) => (created.get(stable) ?? 0) > read_since)
    const first = Math.min(...quarters.keys())
    const isReadFrom = (from: number): boolean => isNew || (first <= from && read_since <= from)
    return { key, ...scoreQuarter(quarters, start, isReadFrom) }
  })
  const chances = scores.flatMap(({ p_value }) => (p_value === null ? [] : [p_value])).sort((a, b) => a - b)
  const harmonic = chances.reduce((sum, _, i) => sum + 1 / (i + 1), 0)
  /** The least share of false findings at which an edge with this p-value would be found, whatever the dependence. */
  const qOf = (p: number): number =>
    Math.min(
      ...chances.map((chance, i) => (chance >= p ? Math.min(1, (chance * chances.length * harmonic) / (i + 1)) : 1)),
    )
  return Object.fromEntries(
    scores.map(({ key, ...score }) => [key, { ...score, q_value: score.p_value === null ? null : qOf(score.p_value) }]),
  )
}
