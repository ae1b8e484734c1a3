import { isoSeconds } from '../../process/instants.js'
import { ANOMALY_WINDOW_MS } from './anomalies.js'
import { type EdgeWindow, EQUAL_WITHIN, type Sample } from './edge-windows.js'
import { usd } from './flows.js'
import { type AnomalyKind, MIN_ABS_Z, MIN_OBSERVATIONS } from './scores.js'
import { type Extremes, meanExcess, tailBeyond, tailPoint } from './tails.js'

/** The deviation of a normal distribution is its median absolute deviation / 0.6745, and 1.253314 times its mean one. */
const MEDIAN_DISTANCE = 0.6745
const MEAN_DISTANCE = 1.253314

/** Of 100 volumes of an edge, this share lies above the expected range, and this share below. */
const OUTSIDE = 0.025

/** Correlations above this count as this. */
const MOST_CORRELATION = 0.99

/** An edge's score in one window, as published. */
export type EdgeScore = Pick<EdgeWindow, 'from' | 'to' | 'from_address' | 'to_address'> & {
  observed_usd: string | null
  tx_count: number
  baseline_windows: number | null
  observations: number | null
  active_share: number | null
  median_active_usd: number | null
  robust_z: number | null
  tx_count_z: number | null
  expected_low_usd: number | null
  expected_high_usd: number | null
  activity_probability: number | null
  is_by_hour: boolean
  silent_windows: number | null
  p_value: number | null
  q_value: number | null
  unusual: AnomalyKind | null
  reasons: string[]
}

const isUnknown = ({ is_active, is_valued }: EdgeWindow): boolean => is_active && !is_valued

/** What a window is compared with: the week before and, if they are enough, the same hours of four weeks. */
const samplesOf = (window: EdgeWindow): Sample[] => [window, ...(window.hour ? [window.hour] : [])]

/** Logarithms in millionths: twice their median, four times the median of the distances from it, and twice their sum. */
type Spread = Pick<Sample, 'observations' | 'median_twice' | 'distance_four_times' | 'distances_twice'>

const txCountsOf = (sample: Sample): Spread => ({
  observations: sample.observations,
  median_twice: sample.tx_median_twice,
  distance_four_times: sample.tx_distance_four_times,
  distances_twice: sample.tx_distances_twice,
})

const medianOf = ({ median_twice }: Spread): number => median_twice / 2e6
const distanceOf = (log: number, { median_twice }: Spread): number => (2 * log - median_twice) / 2e6

/** Two estimates of the deviation of the logarithms, by the median of their distances from the median and by the mean. */
const spreadByMedian = ({ distance_four_times }: Spread): number => distance_four_times / 4e6 / MEDIAN_DISTANCE
const spreadByMean = ({ distances_twice, observations }: Spread): number =>
  (MEAN_DISTANCE * distances_twice) / 2e6 / observations

/** Distance of a logarithm from the median in robust deviations; null if there is none to measure with. */
function deviations(log: number, spread: Spread): number | null {
  const distance = distanceOf(log, spread)
  const deviation = spreadByMedian(spread) || spreadByMean(spread)
  if (deviation > 0) return distance / deviation
  return distance === 0 ? 0 : null
}

/** The distance that all agree on: the nearest to 0, and 0 if they are on different sides; null without one. */
function agreed(distances: readonly (number | null)[]): number | null {
  const measured = distances.filter((distance) => distance !== null)
  if (measured.length === 0) return null
  return Math.max(Math.min(...measured), Math.min(Math.max(...measured), 0))
}

/** How unusual the volume is, by the week and by the hour. */
const robustZ = (window: EdgeWindow): number | null =>
  agreed(samplesOf(window).map((sample) => deviations(window.observed_log, sample)))

/** A count that varies by chance alone has a deviation of 1 on this scale, whatever its mean (Anscombe, 1948). */
const steadied = (count: number): number => 2 * Math.sqrt(count + 3 / 8)

/** How unusual the number of transactions is, by the week and by the hour, and by chance alone. */
function txCountZ(window: EdgeWindow): number | null {
  const { tx_count, tx_count_log } = window
  const byChance = (counts: Spread): number => steadied(tx_count) - steadied(Math.exp(medianOf(counts)))
  const counts = samplesOf(window).map(txCountsOf)
  return agreed([...counts.map((spread) => deviations(tx_count_log, spread)), ...counts.map(byChance)])
}

/** The volumes on one side of an edge's history, so that larger is further out: as they are, or negated. */
type Side = Extremes & { value: number; asFar: number; weight: number }

/**
 * How many windows the new one counts as: 1 if volumes are independent, else how much closer it lies to the last one than to
 * all, 1 / √(1 − ρ²). A new extreme is the more frequent, the more the one before it was extreme already.
 */
const weightOf = ({ correlation }: Sample): number =>
  1 / Math.sqrt(1 - Math.min(MOST_CORRELATION, Math.max(0, correlation)) ** 2)

const above = ({ observed_log }: Pick<EdgeWindow, 'observed_log'>, sample: Sample): Side => ({
  extremes: sample.largest,
  count: sample.observations,
  leastExcess: EQUAL_WITHIN,
  value: observed_log - EQUAL_WITHIN,
  asFar: sample.at_least,
  weight: weightOf(sample),
})

const below: typeof above = ({ observed_log }, sample) => ({
  ...above({ observed_log }, sample),
  extremes: sample.smallest.map((log) => -log),
  value: -observed_log - EQUAL_WITHIN,
  asFar: sample.at_most,
})

/** A side of the history of an edge, by the week and by the hour. */
const sidesOf = (window: EdgeWindow, sideOf: typeof above): Side[] =>
  samplesOf(window).map((sample) => sideOf(window, sample))

/** The probability of a volume as far out: its rank (Phipson and Smyth, 2010), and beyond all by the tail, if that is less. */
function rankShare(side: Side): number {
  const { count, asFar, weight, value } = side
  const share = (asFar + weight) / (count + weight)
  return asFar > 0 ? share : Math.min(share, tailBeyond(side, value))
}

/** The probability of a volume as far out, by the week or by the hour, whichever is larger. */
const largestShare = (sides: readonly Side[]): number => Math.max(...sides.map(rankShare))

/** The furthest logarithm whose rank share is more than `OUTSIDE`, by the week or by the hour, whichever is further. */
const expectedEnd = (sides: readonly Side[]): number => Math.max(...sides.map(endOf))

function endOf(side: Side): number {
  const { extremes, count, weight } = side
  const outside = OUTSIDE * (count + weight) - weight
  if (outside >= 0) return (extremes[Math.floor(outside)] as number) + EQUAL_WITHIN
  return Math.max(extremes[0] as number, tailPoint(side, OUTSIDE)) + EQUAL_WITHIN
}

/** The share of windows with a flow, were this one such a window too: by hour where there are weeks. */
function activityOf({ hour_windows, hour_active, baseline_windows, observations }: EdgeWindow): number {
  if (hour_windows > 0) return (hour_active + 1) / (hour_windows + 1)
  return (observations + 1) / (baseline_windows + 1)
}

/** The probability that a window lies so deep in a silence, or deeper; 1 if the week before had as long a silence. */
function silenceShare({ silent_windows, longest_silences, usual_windows, usual_active }: EdgeWindow): number {
  if (silent_windows <= (longest_silences[0] as number)) return 1
  const tail = { extremes: longest_silences, count: usual_active, leastExcess: 1 }
  return (usual_active / usual_windows) * meanExcess(tail, silent_windows)
}

/** Twice the probability of an outcome at least as far on its side: nothing, then small volumes, then large ones. */
function pValue(window: EdgeWindow): number {
  if (!window.is_active) return Math.min(1, 2 * silenceShare(window))
  const activity = activityOf(window)
  const shareOf = (side: typeof above): number => largestShare(sidesOf(window, side))
  return Math.min(1, 2 * activity * shareOf(above), 2 * (1 - activity + activity * shareOf(below)))
}

/** A silence is unusual from its first window on whose p-value is at most this. */
const SILENCE_P_VALUE = 0.001

/** A flow is less than usual only on an edge that is active in more than this share of windows. */
const USUALLY_ACTIVE = 0.5

/**
 * Whether a window is unusual by the rule `robust`, and how; null if it is not, or not scored. Its volume or its number of
 * transactions is at least `min_abs_z` robust deviations from the median, the volume also outside the expected range; or it
 * makes a silence improbable, which holds for one window of a silence.
 */
export function unusualOf(window: EdgeWindow, min_abs_z: number = MIN_ABS_Z): AnomalyKind | null {
  if (refusalOf(window) !== null) return null
  if (!window.is_active) {
    const before = { ...window, silent_windows: window.silent_windows - 1 }
    return pValue(window) <= SILENCE_P_VALUE && pValue(before) > SILENCE_P_VALUE ? 'silence' : null
  }
  const isOutside = (side: typeof above): boolean => largestShare(sidesOf(window, side)) <= OUTSIDE
  const [volume, transactions] = [robustZ(window) ?? 0, txCountZ(window) ?? 0]
  if (transactions >= min_abs_z || (volume >= min_abs_z && isOutside(above))) return 'surge'
  return volume <= -min_abs_z && isOutside(below) && activityOf(window) > USUALLY_ACTIVE ? 'drop' : null
}

const figure = (value: number): string => `${Number(value.toPrecision(3))}`
const percent = (share: number): string => `${figure(100 * share)} %`
const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

/** Why an edge is not scored, in words; null if it is. A silence is judged by a week of its own. */
function refusalOf(window: EdgeWindow): string | null {
  const { is_active, is_read, is_silence_read, observations, silent_windows } = window
  if (isUnknown(window)) return 'only flows without a USD value: not scored'
  const isSilence = !is_active && silent_windows > 0
  if (isSilence ? !is_silence_read : !is_read) return 'its baseline is not wholly read: not scored'
  if (isSilence) return null
  if (is_active && observations >= MIN_OBSERVATIONS) return null
  return `fewer than ${MIN_OBSERVATIONS} observations${is_active ? '' : ' in the week up to its last flow'}: not scored`
}

function silenceReasons({ silent_windows, longest_silences, usual_windows, usual_active }: EdgeWindow): string[] {
  const longest = longest_silences[0] as number
  return [
    `no flow in ${count(silent_windows, 'window')}`,
    silent_windows <= longest
      ? `not longer than the longest silence of the week before it, ${count(longest, 'window')}`
      : `the longest silence of the week before it had ${count(longest, 'window')}`,
    `active in ${percent(usual_active / usual_windows)} of the windows of that week`,
  ]
}

function volumeReasons(window: EdgeWindow, hour: number): string[] {
  const { observations, at_least, at_most } = window
  const ratio = Math.exp(distanceOf(window.observed_log, window))
  const [further, as] = ratio < 1 ? [at_most, 'little'] : [at_least, 'much']
  const reasons = [
    `${ratio >= 1 ? `${figure(ratio)} times` : `${percent(ratio)} of`} the median of its active windows`,
    `${further} of its ${observations} active windows had as ${as}`,
    window.hour_windows > 0
      ? `active in ${percent(window.hour_active / window.hour_windows)} of the windows of this hour (${hour}:00 UTC) in four weeks`
      : `active in ${percent(observations / window.baseline_windows)} of windows`,
  ]
  const usualCount = Math.exp(medianOf(txCountsOf(window)))
  if ((txCountZ(window) ?? 0) >= MIN_ABS_Z)
    reasons.push(`${count(window.tx_count, 'transaction')}, against a median of ${figure(usualCount)}`)
  if (spreadByMean(window) === 0) reasons.push('all of its active windows had the same volume')
  else if (spreadByMedian(window) === 0) reasons.push('most of its active windows had the same volume')
  return reasons
}

/** The figures of an edge in the window of an hour of the day; its q-value depends on the other edges. */
function scoreOf(window: EdgeWindow, hour: number): EdgeScore {
  const { from, to, from_address, to_address, baseline_windows, observations, is_active, is_read, hour_windows } =
    window
  const refusal = refusalOf(window)
  const isScored = refusal === null
  const hasRange = is_read && observations >= MIN_OBSERVATIONS
  // The logarithms have six decimals, so a dollar amount has six digits.
  const dollars = (log: number): number => Number((Math.exp(log) / 1e6).toPrecision(6))
  return {
    from,
    to,
    from_address,
    to_address,
    observed_usd: isUnknown(window) ? null : usd(BigInt(window.observed_micros)),
    tx_count: window.tx_count,
    baseline_windows: is_read ? baseline_windows : null,
    observations: is_read ? observations : null,
    active_share: is_read && baseline_windows > 0 ? observations / baseline_windows : null,
    median_active_usd: is_read && observations > 0 ? dollars(medianOf(window)) : null,
    robust_z: isScored && is_active ? robustZ(window) : null,
    tx_count_z: isScored && is_active ? txCountZ(window) : null,
    expected_low_usd: hasRange ? dollars(-expectedEnd(sidesOf(window, below)) / 1e6) : null,
    expected_high_usd: hasRange ? dollars(expectedEnd(sidesOf(window, above)) / 1e6) : null,
    activity_probability: hasRange ? activityOf(window) : null,
    is_by_hour: hasRange && hour_windows > 0,
    silent_windows: isScored && !is_active ? window.silent_windows : null,
    p_value: isScored ? pValue(window) : null,
    q_value: null,
    unusual: unusualOf(window),
    reasons: refusal !== null ? [refusal] : is_active ? volumeReasons(window, hour) : silenceReasons(window),
  }
}

const byAddress = (a: EdgeScore, b: EdgeScore): number =>
  a.from_address + a.to_address < b.from_address + b.to_address ? -1 : 1

/** Sorts after every p-value: that of an edge that is not scored. */
export const UNSCORED = 2

/** 1 + 1/2 + … + 1/n. */
const harmonic = (n: number): number => Array.from({ length: n }, (_, i) => 1 / (i + 1)).reduce((a, b) => a + b, 0)

/**
 * The scores of all edges in the window that begins at `window_start`: the least probable first, then by address. q-values
 * are those of Benjamini and Yekutieli (2001) over the edges that have a p-value, which may depend on each other.
 */
export function edgeScores(windows: readonly EdgeWindow[], window_start: Date): EdgeScore[] {
  const hour = window_start.getUTCHours()
  const scores = windows
    .map((window) => scoreOf(window, hour))
    .sort((a, b) => (a.p_value ?? UNSCORED) - (b.p_value ?? UNSCORED) || byAddress(a, b))
  const scored = scores.filter(({ p_value }) => p_value !== null).length
  const factor = scored * harmonic(scored)
  let least = 1
  for (let rank = scored; rank > 0; rank--) {
    const score = scores[rank - 1] as EdgeScore
    least = Math.min(least, ((score.p_value as number) * factor) / rank)
    score.q_value = least
  }
  return scores
}

/** An edge that is unusual in the window that begins at `window_start`, as its event has it. It counts as detected at the end of the window. */
export function publishedUnusual(
  { unusual, from_address, to_address, observed_usd, ...score }: EdgeScore & { unusual: AnomalyKind },
  window_start: Date,
) {
  const window_end = isoSeconds(new Date(window_start.getTime() + ANOMALY_WINDOW_MS))
  return {
    from_token: from_address,
    to_token: to_address,
    kind: unusual,
    window_start: isoSeconds(window_start),
    window_end,
    observed_flow_usd: Number(observed_usd),
    tx_count: score.tx_count,
    median_active_usd: score.median_active_usd,
    expected_low_usd: score.expected_low_usd,
    expected_high_usd: score.expected_high_usd,
    robust_z: score.robust_z,
    tx_count_z: score.tx_count_z,
    is_by_hour: score.is_by_hour,
    silent_windows: score.silent_windows,
    p_value: score.p_value,
    detected_at: window_end,
  }
}
