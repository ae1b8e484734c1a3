/** How a receiver is sent to that has answered 429. */
type Pace = {
  /** Nothing is sent before, in unix milliseconds. */
  untilMs: number
  /** How many deliveries it took since then. */
  taken: number
  /** How many times in a row it was asked and refused, with none taken in between. */
  refusals: number
}

type Options = {
  /** The maximum number of attempts in flight of a subscription that never answered 429. */
  maxInFlightOfOne: number
  /** From 0 to 1, exclusive. */
  random?: () => number
}

/** A paced receiver is sent one delivery after another, and one more at once each time it took this many. */
const TAKEN_PER_STEP = 50

/** The wait after a refusal that requests none, or that follows the last pause immediately: it doubles each time. */
const FIRST_WAIT_MS = 1000
const MAX_GROWN_MS = 600_000

/** So that those who share a limit do not all come back at once, a pause is longer by up to a tenth of itself. */
const JITTER = 0.1
const MAX_JITTER_MS = 10_000

/**
 * The pauses of subscriptions whose receivers answered 429, and how fast these are sent to afterwards. Nobody knows how many a
 * receiver takes at once, so after a pause it is sent one after another until it refuses again: it learns of one delivery too many in
 * each of its periods. Reads no clock: times are arguments.
 */
export class Paces {
  readonly #maxInFlightOfOne: number
  readonly #random: () => number
  readonly #paces = new Map<string, Pace>()
  readonly #paused = new Set<string>()

  constructor({ maxInFlightOfOne, random = Math.random }: Options) {
    this.#maxInFlightOfOne = maxInFlightOfOne
    this.#random = random
  }

  /** Whether nothing is sent to a subscription at present. */
  isPaused(subscription_id: string): boolean {
    return this.#paused.has(subscription_id)
  }

  /** The end of the last pause of a subscription, in unix milliseconds; 0 if there was none. */
  pausedUntil(subscription_id: string): number {
    return this.#paces.get(subscription_id)?.untilMs ?? 0
  }

  /** The maximum number of attempts in flight of a subscription. */
  limitOf(subscription_id: string): number {
    const pace = this.#paces.get(subscription_id)
    if (pace === undefined) return this.#maxInFlightOfOne
    return Math.min(this.#maxInFlightOfOne, 1 + Math.floor(pace.taken / TAKEN_PER_STEP))
  }

  /**
   * Pauses a subscription after an attempt that began at `startedMs` and was answered with 429. `waitMs` is what the answer requests; null if
   * nothing. Returns when it is resumed, in unix milliseconds.
   */
  refused(subscription_id: string, { startedMs, waitMs }: { startedMs: number; waitMs: number | null }, nowMs: number) {
    const last = this.#paces.get(subscription_id) ?? { untilMs: 0, taken: 0, refusals: 0 }
    // Those that were in flight when the pause began tell nothing new, except perhaps that it is longer.
    const isAnswerToPause = startedMs >= last.untilMs
    const refusals = isAnswerToPause ? (last.taken > 0 ? 1 : last.refusals + 1) : last.refusals
    const grownMs = Math.min(FIRST_WAIT_MS * 2 ** (refusals - 1), MAX_GROWN_MS)
    const pauseMs = waitMs === null || refusals > 1 ? Math.max(waitMs ?? 0, grownMs) : waitMs
    const jitterMs = Math.min(pauseMs * JITTER, MAX_JITTER_MS) * this.#random()
    const untilMs = Math.max(last.untilMs, Math.ceil(nowMs + pauseMs + jitterMs))
    this.#pause(subscription_id, { untilMs, taken: 0, refusals })
    return untilMs
  }

  /** Call when a delivery was taken. */
  taken(subscription_id: string): void {
    const pace = this.#paces.get(subscription_id)
    if (pace !== undefined) pace.taken++
  }

  /** Continues a pause that was begun by another process. */
  resume(subscription_id: string, untilMs: number): void {
    this.#pause(subscription_id, {
      untilMs: Math.max(untilMs, this.pausedUntil(subscription_id)),
      taken: 0,
      refusals: 1,
    })
  }

  /** Ends the pauses that are over at `nowMs`; returns whether there were any. */
  end(nowMs: number): boolean {
    let areAnyOver = false
    for (const id of this.#paused) {
      if (this.pausedUntil(id) > nowMs) continue
      this.#paused.delete(id)
      areAnyOver = true
    }
    return areAnyOver
  }

  /** Call when a subscription was changed: its receiver may be another. */
  forget(subscription_id: string): void {
    this.#paces.delete(subscription_id)
    this.#paused.delete(subscription_id)
  }

  #pause(subscription_id: string, pace: Pace): void {
    this.#paces.set(subscription_id, pace)
    this.#paused.add(subscription_id)
  }
}
