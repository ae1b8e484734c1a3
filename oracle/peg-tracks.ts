import type { OracleEvent as LogEvent } from './events.js'
import type { OracleDepth as Depth, OracleEvent, OracleSample as Sample } from './peg-events.js'
import { iso } from './rows.js'

/** A sample, and what one token costs. */
type OracleSample = Sample & { buy_micros: number | null }
/** A depth sample, and what its size costs. */
export type OracleDepth = Depth & { buy_raw: string | null }

/** A sample with the agreed distance of its price from 1, that of the price before, and the smoothed one, in millionths. */
type Priced = OracleSample & { distance: number; before: number; smoothed: number }

const SIZE = 10_000
const MOST_AGE = 330
const TAU = 30
const LOST_SECONDS = 120
const SLOT = 120
const LIMITS = [
  { severity: 'mild', enter: 1000, exit: 700, seconds: 300 },
  { severity: 'severe', enter: 5000, exit: 3500, seconds: 60 },
] as const

/** The nearest whole number, and of two the even one. */
function rounded(value: number): number {
  const floor = Math.floor(value)
  if (value - floor !== 0.5) return Math.round(value)
  return floor % 2 === 0 ? floor : floor + 1
}

/** The middle of what `size` tokens sell for and cost, of the first alone if nobody sells: its distance from 1. */
const middle = (sell: number | string, buy: number | string | null, size: number): number =>
  rounded((Number(sell) + Number(buy ?? sell)) / 2 / size) - 1_000_000

/** Of two distances the smaller one; none if one is above the peg and the other below. */
function agreedOf(ofOne: number, ofSize: number): number {
  if (ofOne * ofSize < 0) return 0
  return Math.abs(ofSize) < Math.abs(ofOne) ? ofSize : ofOne
}

/** The quoted samples of a stable with their agreed and smoothed distances, from all of its samples in order. */
function pricesOf(samples: readonly OracleSample[], depth: readonly OracleDepth[]): Priced[] {
  const larger = depth.filter(({ size_tokens }) => size_tokens === SIZE)
  const prices: Priced[] = []
  let next = 0
  let smoothed: number | null = null
  for (const [i, sample] of samples.entries()) {
    const last = prices.at(-1)
    // The newest price holds until this sample, unless the quote was lost in between.
    const earlier = samples[i - 1]
    if (smoothed !== null && last && earlier && earlier.sell_micros !== null) {
      const weight = Math.exp(-Math.min(120, sample.block_time - earlier.block_time) / TAU)
      smoothed = weight * smoothed + (1 - weight) * last.distance
    }
    if (sample.sell_micros === null) continue
    while ((larger[next]?.block_number ?? Infinity) <= sample.block_number) next++
    const depthSample = larger[next - 1]
    const isUsed =
      depthSample && depthSample.sell_raw !== null && sample.block_time - depthSample.block_time <= MOST_AGE
    const ofOne = middle(sample.sell_micros, sample.buy_micros, 1)
    const distance = isUsed ? agreedOf(ofOne, middle(`${depthSample.sell_raw}`, depthSample.buy_raw, SIZE)) : ofOne
    smoothed ??= distance
    prices.push({ ...sample, before: last?.distance ?? distance, distance, smoothed })
  }
  return prices
}

type Lasting<Sample> = { start: Sample; confirmed: OracleSample; within: Sample[]; end: OracleSample | null }
type Break = Lasting<Priced> & { severity: 'mild' | 'severe' }

/** The breaks in samples with prices. `within` are those from its start to before its end. */
function breaksOf(prices: readonly Priced[]): Break[] {
  const breaks: Break[] = []
  for (const { severity, enter, exit, seconds } of LIMITS) {
    for (let i = 0; i < prices.length; i++) {
      const start = prices[i] as Priced
      if (Math.abs(start.smoothed) <= enter) continue
      const back = prices.findIndex(({ smoothed }, at) => at > i && Math.abs(smoothed) <= exit)
      const until = back < 0 ? prices.length : back
      const confirmed = prices.slice(i, until + 1).find(({ block_time }) => block_time - start.block_time >= seconds)
      if (confirmed)
        breaks.push({ severity, start, confirmed, within: prices.slice(i, until), end: prices[back] ?? null })
      i = until
    }
  }
  return breaks
}

/** The times for which a stable had lost its quote. */
function lossesOf(samples: readonly OracleSample[]): Lasting<OracleSample>[] {
  const losses: Lasting<OracleSample>[] = []
  const first = samples.findIndex(({ sell_micros }) => sell_micros !== null)
  for (let i = first < 0 ? samples.length : first; i < samples.length; i++) {
    const start = samples[i] as OracleSample
    if (start.sell_micros !== null) continue
    const back = samples.findIndex(({ sell_micros }, at) => at > i && sell_micros !== null)
    const until = back < 0 ? samples.length : back
    const confirmed = samples
      .slice(i, until + 1)
      .find(({ block_time }) => block_time - start.block_time >= LOST_SECONDS)
    if (confirmed) losses.push({ start, confirmed, within: samples.slice(i, until), end: samples[back] ?? null })
    i = until
  }
  return losses
}

const directionOf = ({ start }: Break): 'above' | 'below' => (start.smoothed > 0 ? 'above' : 'below')
/** Of the prices from the one that took the smoothed price outside. */
const largest = (within: readonly Priced[]): number =>
  within.reduce((max, { distance }) => Math.max(max, Math.abs(distance)), Math.abs(within[0]?.before ?? 0)) / 100

/** A break on an agreed track as the interface returns it. */
export type OracleAgreedBreak = OracleEvent & { direction: 'above' | 'below' }

/**
 * One stable's breaks on the agreed tracks as known at `asOf`, newest first, computed from all of its samples in order and its
 * depth samples. Written from the definition alone.
 */
export function agreedBreaksOracle(
  samples: readonly OracleSample[],
  depth: readonly OracleDepth[],
  asOf: number,
): OracleAgreedBreak[] {
  const samplesUntil = samples.filter(({ block_time }) => block_time <= asOf)
  const now = samplesUntil.at(-1)?.block_time ?? 0
  return breaksOf(pricesOf(samplesUntil, depth))
    .map((excursion) => ({
      severity: excursion.severity,
      direction: directionOf(excursion),
      started_at: iso(excursion.start.block_time),
      ended_at: excursion.end && iso(excursion.end.block_time),
      duration_seconds: (excursion.end?.block_time ?? now) - excursion.start.block_time,
      max_deviation_bps: largest(excursion.within),
      started_block: excursion.start.block_number,
      ended_block: excursion.end?.block_number ?? null,
      ongoing: excursion.end === null,
      // Not measured: larger sizes have judged them already.
      standing_tokens: null,
      thin: null,
    }))
    .sort(
      (a, b) =>
        b.started_at.localeCompare(a.started_at) ||
        b.started_block - a.started_block ||
        b.severity.localeCompare(a.severity),
    )
}

/** The events about what has begun and perhaps ended, with the data that `dataUntil` gives as of a time. */
function eventsOf(
  [started, ended]: readonly [string, string],
  { start, confirmed, end }: Lasting<OracleSample>,
  dataUntil: (at: number) => Record<string, unknown>,
): LogEvent[] {
  const begun = (at: number) => ({
    ...dataUntil(at),
    started_at: iso(start.block_time),
    started_block: start.block_number,
  })
  const slot = Math.ceil(confirmed.block_time / SLOT) * SLOT
  const first = { event: started, occurred_at: iso(confirmed.block_time), data: begun(slot) }
  if (!end) return [first]
  const data = {
    ...begun(end.block_time),
    ended_at: iso(end.block_time),
    ended_block: end.block_number,
    duration_seconds: end.block_time - start.block_time,
  }
  return [first, { event: ended, occurred_at: iso(end.block_time), data }]
}

/**
 * The events about a stable's breaks on the agreed tracks and its lost quotes until `until`, the end of a slot, in no order.
 * They are announced in the slot in which they have lasted the minimum, with what is known at its end.
 */
export function pegTrackEvents(
  stable: string,
  samples: readonly (OracleSample & { status: string })[],
  depth: readonly OracleDepth[],
  until: number,
): LogEvent[] {
  const samplesUntil = samples.filter(({ block_time }) => block_time <= until)
  const statusOf = new Map(samplesUntil.map(({ block_number, status }) => [block_number, status]))
  return [
    ...breaksOf(pricesOf(samplesUntil, depth)).flatMap((excursion) =>
      eventsOf(['agreed_break.started', 'agreed_break.ended'], excursion, (at) => ({
        stable,
        severity: excursion.severity,
        direction: directionOf(excursion),
        max_deviation_bps: largest(excursion.within.filter(({ block_time }) => block_time <= at)),
      })),
    ),
    ...lossesOf(samplesUntil).flatMap((loss) =>
      eventsOf(['peg_quote.lost', 'peg_quote.back'], loss, () => ({
        stable,
        status: statusOf.get(loss.start.block_number),
      })),
    ),
  ]
}
