import { z } from 'zod'
import { MAX_SAMPLE_SECONDS } from './price.js'

/**
 * How breaks are found. A deviation of the smoothed price by more than `enter_bps` begins a break, and one of at most
 * `exit_bps` ends it. It counts once it has lasted `min_seconds`. With `unquoted_seconds`, so does being without a quote
 * for that long; null: time without a quote is never a break.
 */
export type BreakRule = {
  enter_bps: number
  /** At most `enter_bps`. */
  exit_bps: number
  min_seconds: number
  /** The time constant of the smoothing, in seconds; 0: prices are taken as they are. */
  tau_seconds: number
  /** The time constant of the price that a deviation is measured from, in seconds; 0: from the peg itself. */
  baseline_seconds: number
  unquoted_seconds: number | null
}

const Seen = z.object({
  first_at: z.int(),
  first_block: z.int(),
  inside_at: z.int().nullable(),
  inside_block: z.int().nullable(),
})
/**
 * What a finder had seen when a break started: its first price, and the newest price before that was back inside the limits,
 * null if none was. Without such a price, the break may have begun before what the finder has seen.
 */
export type Seen = z.infer<typeof Seen>

/** A break. Times in unix seconds; `confirmed_at` is the first sample that shows that it has lasted long enough. */
type Found = {
  started_at: number
  started_block: number
  confirmed_at: number
  /** Null: in progress at the last sample. */
  ended_at: number | null
  ended_block: number | null
  seen: Seen
}

/** `direction` is that of its first sample. The largest deviation is of the prices themselves, not of the smoothed ones. */
export type FoundDeviation = Found & { kind: 'deviation'; direction: 'above' | 'below'; max_deviation_bps: number }
export type FoundUnquoted = Found & { kind: 'unquoted'; direction: null; max_deviation_bps: null }
export type FoundBreak = FoundDeviation | FoundUnquoted

/** A sample without a quote, in place of its deviation. */
export const UNQUOTED = 0x7fffffff

const MICROS_PER_BPS = 100

const Average = z.object({
  /** The average at the time of the newest sample, of which that sample is not yet a part. */
  value: z.number(),
  time: z.int(),
  /** The newest price, and whether it holds from then on: not if the quote was lost. */
  held: z.number(),
  is_held: z.boolean(),
})
type Average = z.infer<typeof Average>

/**
 * An exponentially weighted moving average of prices, each of which holds from its sample to the next one, as in averages by
 * time (A. Eckner, "Algorithms for unevenly spaced time series", 2012: EMA with the previous value). Of several samples in one
 * second, the last holds.
 */
class Smoothed {
  /** Null before the first sample. */
  average: Average | null
  /** What a price that has held for `#elapsed` seconds weighs: nearly always the same. */
  #elapsed = 0
  #weight = 0
  readonly #tau: number

  constructor(tau: number, average: Average | null) {
    this.#tau = tau
    this.average = average && { ...average }
  }

  /** Adds a sample and returns the average at its time, and the price before. */
  add(time: number, sample: number): { value: number; before: number } {
    const average = this.average ?? { value: sample, time, held: sample, is_held: true }
    const before = average.held
    this.#hold(average, time)
    this.average = Object.assign(average, { held: sample, is_held: true })
    return { value: this.#tau === 0 ? sample : average.value, before }
  }

  /** From `time` on there is no quote, until the next sample. */
  lose(time: number): void {
    if (!this.average) return
    this.#hold(this.average, time)
    this.average.is_held = false
  }

  #hold(average: Average, time: number): void {
    const elapsed = Math.min(time - average.time, MAX_SAMPLE_SECONDS)
    if (elapsed > 0 && average.is_held && this.#tau > 0) {
      if (elapsed !== this.#elapsed) {
        this.#elapsed = elapsed
        this.#weight = 1 - Math.exp(-elapsed / this.#tau)
      }
      average.value += this.#weight * (average.held - average.value)
    }
    average.time = time
  }
}

/** A break in progress. */
const Open = z.object({
  started_at: z.int(),
  started_block: z.int(),
  confirmed_at: z.int().nullable(),
  seen: Seen,
})
type Open = z.infer<typeof Open>

/** A deviation in progress; `worst` is its largest distance, in millionths. */
const OpenDeviation = z.object({ ...Open.shape, direction: z.enum(['above', 'below']), worst: z.number() })
type OpenDeviation = z.infer<typeof OpenDeviation>

/** How a deviation ended, and its largest distance, in millionths. */
type Brief = Pick<OpenDeviation, 'worst'> & { ended_at: number; ended_block: number }

/**
 * What a finder knows after some samples. One that is given it continues as if it had seen them. Plain values, which JSON
 * keeps digit for digit.
 */
export const FinderState = z.object({
  price: Average.nullable(),
  baseline: Average.nullable(),
  deviation: OpenDeviation.nullable(),
  unquoted: Open.nullable(),
  seen: Seen.nullable(),
})
export type FinderState = z.infer<typeof FinderState>

const NOTHING_SEEN: FinderState = { price: null, baseline: null, deviation: null, unquoted: null, seen: null }

/**
 * Finds the breaks of one stable in its samples, which are added in order of their blocks. A sample without a quote leaves
 * a deviation as it is, and so does time without samples: what is not known neither begins nor ends a break.
 */
export class BreakFinder {
  readonly #ended: FoundBreak[] = []
  readonly #price: Smoothed
  readonly #baseline: Smoothed
  readonly #enter: number
  readonly #exit: number
  readonly #rule: BreakRule
  #deviation: OpenDeviation | null
  #unquoted: Open | null
  #seen: Seen | null
  /** The deviation in progress that it continues. */
  readonly #continued: OpenDeviation | null
  #brief: Brief | null = null

  constructor(rule: BreakRule, { price, baseline, deviation, unquoted, seen }: FinderState = NOTHING_SEEN) {
    this.#rule = rule
    this.#price = new Smoothed(rule.tau_seconds, price)
    this.#baseline = new Smoothed(rule.baseline_seconds, baseline)
    this.#enter = rule.enter_bps * MICROS_PER_BPS
    this.#exit = rule.exit_bps * MICROS_PER_BPS
    this.#deviation = deviation && { ...deviation }
    this.#continued = this.#deviation
    this.#unquoted = unquoted && { ...unquoted }
    this.#seen = seen && { ...seen }
  }

  /** What it knows after the samples so far, to continue from. It changes with the next sample: store it or copy it. */
  get state(): FinderState {
    const [price, baseline] = [this.#price.average, this.#baseline.average]
    return { price, baseline, deviation: this.#deviation, unquoted: this.#unquoted, seen: this.#seen }
  }

  /** The end of the deviation that it continues, if that was before it had lasted long enough; otherwise null. */
  get brief(): Brief | null {
    return this.#brief
  }

  /** `deviation` is the price's distance from 1, in millionths, or UNQUOTED. `time` is in unix seconds. */
  add(time: number, block: number, deviation: number): void {
    const { min_seconds, unquoted_seconds, baseline_seconds, tau_seconds } = this.#rule
    if (deviation === UNQUOTED) {
      this.#price.lose(time)
      this.#baseline.lose(time)
      // Only a stable that had a quote can lose it.
      if (unquoted_seconds === null || !this.#seen) return
      this.#unquoted ??= { started_at: time, started_block: block, confirmed_at: null, seen: { ...this.#seen } }
      confirm(this.#unquoted, time, unquoted_seconds)
      return
    }
    this.#seen ??= { first_at: time, first_block: block, inside_at: null, inside_block: null }
    if (this.#unquoted) {
      confirm(this.#unquoted, time, unquoted_seconds ?? 0)
      this.#ended.push(...unquotedBreak(this.#unquoted, time, block))
      this.#unquoted = null
    }
    const price = this.#price.add(time, deviation)
    const baseline = baseline_seconds > 0 ? this.#baseline.add(time, deviation).value : 0
    const [distance, raw] = [price.value - baseline, deviation - baseline]
    if (!this.#deviation && Math.abs(distance) > this.#enter) {
      const direction = distance > 0 ? 'above' : 'below'
      const begun = { started_at: time, started_block: block, confirmed_at: null, seen: { ...this.#seen } }
      // A smoothed price leaves its limits by the price that held until now, whatever the new one is.
      this.#deviation = { ...begun, direction, worst: tau_seconds > 0 ? Math.abs(price.before - baseline) : 0 }
    }
    const isInside = Math.abs(distance) <= this.#exit
    if (isInside) {
      this.#seen.inside_at = time
      this.#seen.inside_block = block
    }
    const open = this.#deviation
    if (!open) return
    confirm(open, time, min_seconds)
    if (isInside) {
      this.#ended.push(...deviationBreak(open, time, block))
      if (open === this.#continued && open.confirmed_at === null)
        this.#brief = { ended_at: time, ended_block: block, worst: open.worst }
      this.#deviation = null
    } else open.worst = Math.max(open.worst, Math.abs(raw))
  }

  /** The breaks that ended in the samples that it was given, and those in progress, by when they started. */
  found(): FoundBreak[] {
    const inProgress = [
      ...(this.#deviation ? deviationBreak(this.#deviation, null, null) : []),
      ...(this.#unquoted ? unquotedBreak(this.#unquoted, null, null) : []),
    ]
    return [...this.#ended, ...inProgress].sort((a, b) => a.started_at - b.started_at)
  }
}

function confirm(open: Open, time: number, minSeconds: number): void {
  if (open.confirmed_at === null && time - open.started_at >= minSeconds) open.confirmed_at = time
}

/** The break, unless it has not lasted long enough. */
function deviationBreak(
  { confirmed_at, worst, ...open }: OpenDeviation,
  ended_at: number | null,
  ended_block: number | null,
): FoundDeviation[] {
  if (confirmed_at === null) return []
  const max_deviation_bps = worst / MICROS_PER_BPS
  return [{ kind: 'deviation', ...open, confirmed_at, ended_at, ended_block, max_deviation_bps }]
}

function unquotedBreak(
  { confirmed_at, ...open }: Open,
  ended_at: number | null,
  ended_block: number | null,
): FoundUnquoted[] {
  if (confirmed_at === null) return []
  const lasted = { ended_at, ended_block, direction: null, max_deviation_bps: null }
  return [{ kind: 'unquoted', ...open, confirmed_at, ...lasted }]
}
