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

/** A break. Times in unix seconds; `confirmed_at` is the first sample that shows that it has lasted long enough. */
export type FoundBreak = {
  kind: 'deviation' | 'unquoted'
  /** Of its largest deviation; null without a quote. */
  direction: 'above' | 'below' | null
  started_at: number
  confirmed_at: number
  /** Null: in progress at the last sample. */
  ended_at: number | null
  /** Of the prices themselves, not of the smoothed ones; null without a quote. */
  max_deviation_bps: number | null
}

/** A sample without a quote, in place of its deviation. */
export const UNQUOTED = 0x7fffffff

const MICROS_PER_BPS = 100

/**
 * An exponentially weighted moving average of samples at irregular times: a sample `d` seconds after the one before it has
 * the weight 1 - exp(-d / tau) (A. Eckner, "Algorithms for unevenly spaced time series", 2012: EMA with the next value). Of
 * several samples in one second, the last counts.
 */
class Smoothed {
  value = Number.NaN
  /** The value at the last sample of an earlier second, and its time. */
  #before = Number.NaN
  #beforeTime = 0
  #time = 0
  /** The weight of a sample `#elapsed` seconds after the one before it: nearly always the same. */
  #elapsed = 0
  #weight = 0
  readonly #tau: number

  constructor(tau: number) {
    this.#tau = tau
  }

  add(time: number, sample: number): void {
    if (time > this.#time) {
      this.#before = this.value
      this.#beforeTime = this.#time
      this.#time = time
    }
    if (this.#tau === 0 || Number.isNaN(this.#before)) {
      this.value = sample
      return
    }
    const elapsed = time - this.#beforeTime
    if (elapsed !== this.#elapsed) {
      this.#elapsed = elapsed
      this.#weight = 1 - Math.exp(-elapsed / this.#tau)
    }
    this.value = this.#before + this.#weight * (sample - this.#before)
  }
}

type Open = { started_at: number; confirmed_at: number | null; worst: number }

/**
 * Finds the breaks of one stable in its samples, which are added in order of their blocks. A sample without a quote leaves
 * a deviation as it is, and so does time without samples: what is not known neither begins nor ends a break.
 */
export class BreakFinder {
  readonly #found: FoundBreak[] = []
  readonly #price: Smoothed
  readonly #baseline: Smoothed
  readonly #enter: number
  readonly #exit: number
  readonly #rule: BreakRule
  #open: Open | null = null
  #unquoted: Open | null = null
  #wasQuoted = false

  constructor(rule: BreakRule) {
    this.#rule = rule
    this.#price = new Smoothed(rule.tau_seconds)
    this.#baseline = new Smoothed(rule.baseline_seconds)
    this.#enter = rule.enter_bps * MICROS_PER_BPS
    this.#exit = rule.exit_bps * MICROS_PER_BPS
  }

  /** `deviation` is the price's distance from 1, in millionths, or UNQUOTED. `time` is in unix seconds. */
  add(time: number, deviation: number): void {
    if (deviation === UNQUOTED) {
      this.#addUnquoted(time)
      return
    }
    this.#wasQuoted = true
    if (this.#unquoted) this.#endUnquoted(time)
    this.#price.add(time, deviation)
    let [distance, raw] = [this.#price.value, deviation]
    if (this.#rule.baseline_seconds > 0) {
      this.#baseline.add(time, deviation)
      distance -= this.#baseline.value
      raw -= this.#baseline.value
    }
    if (!this.#open) {
      if (Math.abs(distance) <= this.#enter) return
      this.#open = { started_at: time, confirmed_at: null, worst: 0 }
    }
    const open = this.#open
    if (open.confirmed_at === null && time - open.started_at >= this.#rule.min_seconds) open.confirmed_at = time
    const isInside = Math.abs(distance) <= this.#exit
    if (!isInside && Math.abs(raw) > Math.abs(open.worst)) open.worst = raw
    if (isInside) {
      this.#report(open, time)
      this.#open = null
    }
  }

  /** The breaks so far, by when they started. */
  found(): FoundBreak[] {
    const before = this.#found.length
    if (this.#open) this.#report(this.#open, null)
    if (this.#unquoted) this.#reportUnquoted(this.#unquoted, null)
    const found = this.#found.toSorted((a, b) => a.started_at - b.started_at)
    this.#found.length = before
    return found
  }

  #report({ started_at, confirmed_at, worst }: Open, ended_at: number | null): void {
    if (confirmed_at === null) return
    const direction = worst > 0 ? 'above' : 'below'
    const max_deviation_bps = Math.abs(worst) / MICROS_PER_BPS
    this.#found.push({ kind: 'deviation', direction, started_at, confirmed_at, ended_at, max_deviation_bps })
  }

  #addUnquoted(time: number): void {
    // Only a stable that had a quote can lose it.
    if (this.#rule.unquoted_seconds === null || !this.#wasQuoted) return
    this.#unquoted ??= { started_at: time, confirmed_at: null, worst: 0 }
    this.#confirmUnquoted(this.#unquoted, time)
  }

  #endUnquoted(time: number): void {
    const unquoted = this.#unquoted as Open
    this.#confirmUnquoted(unquoted, time)
    this.#reportUnquoted(unquoted, time)
    this.#unquoted = null
  }

  #confirmUnquoted(unquoted: Open, time: number): void {
    if (unquoted.confirmed_at === null && time - unquoted.started_at >= (this.#rule.unquoted_seconds ?? 0))
      unquoted.confirmed_at = time
  }

  #reportUnquoted({ started_at, confirmed_at }: Open, ended_at: number | null): void {
    if (confirmed_at === null) return
    this.#found.push({ kind: 'unquoted', direction: null, started_at, confirmed_at, ended_at, max_deviation_bps: null })
  }
}
