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

/** The integral of cos^power from `from` to a right angle, by Simpson's rule in parts that double in length. */
function cosineTail(from: number, power: number): number {
  const PARTS = 24
  const STEPS = 256
  const whole = Math.PI / 2 - from
  let [sum, start] = [0, from]
  for (let part = 0; part < PARTS; part++) {
    const end = from + whole * 2 ** (part + 1 - PARTS)
    const step = (end - start) / STEPS
    for (let i = 0; i <= STEPS; i++) {
      const weight = i === 0 || i === STEPS ? 1 : i % 2 === 1 ? 4 : 2
      sum += (weight * step * Math.cos(start + i * step) ** power) / 3
    }
    start = end
  }
  return sum
}

/** The probability that Student's t with `freedom` degrees is at least `t`: t = √freedom tan θ, with density cos^(freedom − 1). */
function studentTail(t: number, freedom: number): number {
  if (t < 0) return 1 - studentTail(-t, freedom)
  return cosineTail(Math.atan(t / Math.sqrt(freedom)), freedom - 1) / (2 * cosineTail(0, freedom - 1))
}

const quantiles = new Map<number, number>()
function studentQuantile(freedom: number): number {
  const cached = quantiles.get(freedom)
  if (cached !== undefined) return cached
  let [low, high] = [0, 100]
  while (high - low > 1e-13 * high) {
    const t = (low + high) / 2
    if (t === low || t === high) break
    if (studentTail(t, freedom) > 0.025) low = t
    else high = t
  }
  quantiles.set(freedom, high)
  return high
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

const shareOf = (active: number, windows: number): number => (active + 0.5) / (windows + 1)
const countOf = <One>(items: readonly One[], matches: (item: One) => boolean): number => items.filter(matches).length

function silenceOf(quarters: Quarters, first: number, start: number, isReadFrom: (from: number) => boolean) {
  const last = Math.max(...[...quarters.keys()].filter((at) => at < start))
  const silent = (start - last) / QUARTER
  if (silent > 672) return null
  const usual = volumesIn(quarters, first, last + QUARTER - WEEK, last + QUARTER)
  if (countOf(usual, ({ isActive, volume }) => isActive && volume !== null) < 10) return null
  if (!isReadFrom(last + QUARTER - WEEK)) return null
  const runs = usual.map(({ isActive }) => (isActive ? 'x' : '-')).join('')
  const longest = Math.max(...runs.split('x').map((run) => run.length))
  const q =
    1 -
    shareOf(
      countOf(usual, ({ isActive }) => isActive),
      usual.length,
    )
  return { silent_windows: silent, p_value: silent <= longest ? 1 : Math.min(1, 2 * q ** silent) }
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
  const width = Math.max(0.02, byMedian, byMean) * Math.sqrt(1 + Math.PI / 2 / n)
  const range = {
    expected_low_usd: dollars(center - studentQuantile(n - 1) * width),
    expected_high_usd: dollars(center + studentQuantile(n - 1) * width),
  }
  if (!isActive || observed === null) return { ...base, ...range, ...none, ...silence }
  const log = logOf(observed)
  const distance = Math.round((log - center) * 2e6) / 2e6
  const isConstant = distances.every((gap) => Math.round(gap * 2e6) === 0)
  const isTied = byMedian === 0
  const above = Math.max(studentTail(distance / width, n - 1), countOf(logs, (other) => other >= log) / (n + 1))
  const below = Math.max(studentTail(-distance / width, n - 1), countOf(logs, (other) => other <= log) / (n + 1))
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
  /** The least share of false findings at which an edge with this p-value would be found. */
  const qOf = (p: number): number =>
    Math.min(...chances.map((chance, i) => (chance >= p ? Math.min(1, (chance * chances.length) / (i + 1)) : 1)))
  return Object.fromEntries(
    scores.map(({ key, ...score }) => [key, { ...score, q_value: score.p_value === null ? null : qOf(score.p_value) }]),
  )
}
