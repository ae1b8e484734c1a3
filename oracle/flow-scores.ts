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

/** The volume of each quarter of an hour with a flow, by its start; null if none of its flows has a value. */
type Quarters = Map<number, bigint | null>

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
  const volumes: { start: number; volume: bigint | null; isActive: boolean }[] = []
  for (let start = Math.max(from, first); start < to; start += QUARTER) {
    const isActive = quarters.has(start)
    volumes.push({ start, isActive, volume: isActive ? (quarters.get(start) ?? null) : 0n })
  }
  return volumes
}

const shareOf = (active: number, windows: number): number => (active + 1) / (windows + 1)
const countOf = <One>(items: readonly One[], matches: (item: One) => boolean): number => items.filter(matches).length

function silenceOf(quarters: Quarters, first: number, start: number, isReadFrom: (from: number) => boolean) {
  const last = Math.max(...[...quarters.keys()].filter((at) => at < start))
  const silent = (start - last) / QUARTER
  if (silent > 672) return null
  const usual = volumesIn(quarters, first, last + QUARTER - WEEK, last + QUARTER)
  if (countOf(usual, ({ isActive, volume }) => isActive && volume !== null) < 10) return null
  if (!isReadFrom(last + QUARTER - WEEK)) return null
  const runs = usual.map(({ isActive }) => (isActive ? 'x' : '-')).join('')
  // Each flow ends a silence, most of them of no window.
  const silences = runs.split('x').slice(0, -1)
  const lengths = silences.map((run) => run.length)
  if (silent <= Math.max(...lengths)) return { silent_windows: silent, p_value: 1 }
  const windows = overThresholds(
    lengths,
    1,
    (peaks, threshold, excess) =>
      ((((peaks + 1) / (lengths.length + 1)) * excess) / (peaks - 1)) *
      (excess / (excess + Math.max(0, silent - threshold))) ** (peaks - 1),
  )
  return { silent_windows: silent, p_value: Math.min(1, (2 * windows * lengths.length) / usual.length) }
}

/** The score of one edge in the quarter from `start`, without its q-value. */
function scoreQuarter(quarters: Quarters, start: number, isReadFrom: (from: number) => boolean) {
  const first = Math.min(...quarters.keys())
  const isActive = quarters.has(start)
  const observed = isActive ? (quarters.get(start) ?? null) : 0n
  const isRead = isReadFrom(start - WEEK)
  const baseline = volumesIn(quarters, first, start - WEEK, start).filter(({ volume }) => volume !== null)
  const logs = baseline.filter((window) => window.isActive).map(({ volume }) => logOf(volume as bigint))
  const n = logs.length
  const isMeasured = isRead && n >= 10
  const month = volumesIn(quarters, first, start - 28 * DAY, start)
  const isByHour = first <= start - 28 * DAY && isReadFrom(start - 28 * DAY)
  const ofHour = month.filter(
    (window) => window.volume !== null && Math.floor((window.start % DAY) / HOUR) === Math.floor((start % DAY) / HOUR),
  )
  const activity = isByHour
    ? shareOf(
        countOf(ofHour, (window) => window.isActive),
        ofHour.length,
      )
    : shareOf(n, baseline.length)
  const base = {
    observed_usd: observed === null ? null : `${observed / 1_000_000n}.${`${observed % 1_000_000n}`.padStart(6, '0')}`,
    baseline_windows: isRead ? baseline.length : null,
    observations: isRead ? n : null,
    active_share: isRead && baseline.length > 0 ? n / baseline.length : null,
    median_active_usd: isRead && n > 0 ? dollars(median(logs)) : null,
    activity_probability: isMeasured ? activity : null,
    is_by_hour: isMeasured && isByHour,
  }
  const none = { robust_z: null, silent_windows: null, p_value: null }
  const silence = isActive ? null : (silenceOf(quarters, first, start, isReadFrom) ?? none)
  if (!isMeasured) return { ...base, ...none, expected_low_usd: null, expected_high_usd: null, ...silence }
  const center = median(logs)
  const distances = logs.map((log) => Math.abs(log - center))
  const byMedian = Math.round(median(distances) * 4e6) / 4e6 / 0.6745
  const byMean = 1.253314 * mean(distances)
  const weight = weightOf(logs)
  const negated = logs.map((log) => -log)
  const range = {
    expected_low_usd: dollars(-highest(negated, weight)),
    expected_high_usd: dollars(highest(logs, weight)),
  }
  if (!isActive || observed === null) return { ...base, ...range, ...none, ...silence }
  const log = logOf(observed)
  const distance = Math.round((log - center) * 2e6) / 2e6
  const isConstant = distances.every((gap) => Math.round(gap * 2e6) === 0)
  const isTied = byMedian === 0
  const above = shareAbove(log, logs, weight)
  const below = shareAbove(-log, negated, weight)
  return {
    ...base,
    ...range,
    robust_z: isConstant ? (distance === 0 ? 0 : null) : distance / (isTied ? byMean : byMedian),
    silent_windows: null,
    p_value: Math.min(1, 2 * activity * above, 2 * (1 - activity + activity * below)),
  }
}

/** The scores of all edges that had a flow before `start` + 900, by their addresses. Written from the definition alone. */
export function flowScoresOracle({ flows, created, read_since }: KnownFlows, start: number) {
  const edges = new Map<string, Quarters>()
  for (const { kind, from_token, to_token, usd_micros, block_time } of flows) {
    const at = Math.floor(block_time / QUARTER) * QUARTER
    if (kind === 'bridge' || at > start) continue
    const key = `${from_token} ${to_token}`
    const quarters = edges.get(key) ?? (new Map() as Quarters)
    edges.set(key, quarters)
    const before = quarters.get(at) ?? null
    quarters.set(at, usd_micros === null ? before : (before ?? 0n) + BigInt(usd_micros))
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
