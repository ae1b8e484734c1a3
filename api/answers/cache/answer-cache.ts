import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { PlumblineError } from '../../../process/errors.js'
import type { Answer } from './answer.js'
import type { Found, SharedAnswers } from './shared-answers.js'

/** Running work that all requests for the same answer share. */
type Flight<Result> = {
  result: Promise<Result>
  startedAt: number
  /** Adds a client that waits until `client` aborts: the work is aborted with the last one. */
  join: (client: AbortSignal) => void
  /** Lets the work continue even if nobody waits. */
  keep: () => void
}

/** At most one piece of work per key at any time. */
type Flights<Result> = {
  get: (key: string) => Flight<Result> | undefined
  start: (key: string, work: (signal: AbortSignal) => Promise<Result>) => Flight<Result>
}

/** `nowMs` is a monotonic clock. */
function createFlights<Result>(nowMs: () => number): Flights<Result> {
  const flights = new Map<string, Flight<Result>>()
  return {
    get: (key) => flights.get(key),
    start: (key, work) => {
      const controller = new AbortController()
      let waiting = 0
      let isKept = false
      const land = (): void => {
        if (flights.get(key) === flight) flights.delete(key)
      }
      const leave = (): void => {
        waiting -= 1
        if (waiting > 0 || isKept) return
        // New requests start again instead of waiting for aborted work.
        land()
        controller.abort()
      }
      const flight: Flight<Result> = {
        result: work(controller.signal).finally(land),
        startedAt: nowMs(),
        join: (client) => {
          waiting += 1
          if (client.aborted) leave()
          else client.addEventListener('abort', leave, { once: true })
        },
        keep: () => {
          isKept = true
        },
      }
      // It may fail while nobody waits for it.
      flight.result.catch(() => {})
      flights.set(key, flight)
      return flight
    },
  }
}

/**
 * The result of a request, and its source: `hit` from memory, `miss` computed or fetched for it, `stale` older than it
 * should be.
 */
export type Outcome = Found & { how: 'hit' | 'miss' | 'stale' }

/** Computes an answer. Stops when the signal aborts. */
type Compute = (signal: AbortSignal) => Promise<Answer>

type AnswerCache = {
  /** An answer that can be sent at once and does not need to be renewed by this request. */
  fresh: (key: string) => Found | undefined
  /** An answer by its key, computed once for all concurrent requests. Rejects with the error of `compute`. */
  get: (key: string, compute: Compute, client: AbortSignal) => Promise<Outcome>
}

type Held = { answer: Answer; since: number; retryAt: number }

/** Answers are renewed from this share of their maximum age on, while they are still served. */
const RENEW_AT = 0.5
/** ClickHouse counts as slow after this time, in milliseconds; then an old answer is better than a late one. */
const SLOW_MS = 500
/** After a failure, ClickHouse is not asked for this long if there is an old answer, in milliseconds. */
const PAUSE_MS = 500
/** How long a process waits for another one's answer, and how often it checks, in milliseconds. */
const OTHERS_MS = 2000
const LOOK_MS = 20

const isPassing = (error: unknown): boolean => error instanceof PlumblineError && error.retryable

/**
 * Keeps answers of up to `maxBytes` in memory, and shares them between processes through `shared`, if there is one.
 * `nowMs` is a monotonic clock.
 */
export function createAnswerCache({
  maxBytes,
  shared,
  nowMs,
}: {
  maxBytes: number
  shared: SharedAnswers | null
  nowMs: () => number
}): AnswerCache {
  const kept = new LRUCache<string, Held>({ maxSize: maxBytes, sizeCalculation: ({ answer }) => answer.size })
  const flights = createFlights<Found>(nowMs)

  const found = ({ answer, since }: Held): Found => ({ answer, ageMs: nowMs() - since })
  const keep = (key: string, { answer, ageMs }: Found): Found => {
    kept.set(key, { answer, since: nowMs() - ageMs, retryAt: 0 })
    return { answer, ageMs }
  }
  const isYoung = ({ answer, ageMs }: Found): boolean => ageMs < answer.freshness.maxAgeMs * RENEW_AT

  /** Waits for the process that is computing the answer; null if it does not deliver one. */
  async function fromOthers(others: SharedAnswers, key: string): Promise<Found | null> {
    for (const deadline = nowMs() + OTHERS_MS; nowMs() < deadline; await sleep(LOOK_MS)) {
      // Before looking: a process that has released its claim has put its answer.
      const isClaimed = await others.claim(key)
      const theirs = await others.find(key)
      if (theirs && isYoung(theirs)) {
        if (isClaimed) void others.release(key)
        return theirs
      }
      if (isClaimed) return null
    }
    return null
  }

  async function computeAlone(key: string, compute: Compute, signal: AbortSignal): Promise<Found> {
    if (shared === null) return keep(key, { answer: await compute(signal), ageMs: 0 })
    const theirs = await shared.find(key)
    if (theirs && isYoung(theirs)) return keep(key, theirs)
    // An old answer is better than none if ClickHouse is unreachable.
    if (theirs && !kept.has(key)) keep(key, theirs)
    const awaited = (await shared.claim(key)) ? null : await fromOthers(shared, key)
    if (awaited) return keep(key, awaited)
    try {
      const answer = await compute(signal)
      void shared.put(key, answer).then(() => shared.release(key))
      return keep(key, { answer, ageMs: 0 })
    } catch (error) {
      void shared.release(key)
      throw error
    }
  }

  const start = (key: string, compute: Compute): Flight<Found> =>
    flights.get(key) ?? flights.start(key, (signal) => computeAlone(key, compute, signal))

  /** The old answer, if there is one that is not too old. */
  const fallback = (key: string): Found | null => {
    const held = kept.get(key)
    if (!held) return null
    const { answer, ageMs } = found(held)
    return ageMs < answer.freshness.maxAgeMs + answer.freshness.staleMs ? { answer, ageMs } : null
  }

  /** The renewed answer, or the old one if renewing is slow or fails temporarily. */
  async function renewed(key: string, held: Held, compute: Compute): Promise<Outcome> {
    const old = found(held)
    if (nowMs() < held.retryAt) return { ...old, how: 'stale' }
    const flight = start(key, compute)
    flight.keep()
    const patience = new AbortController()
    try {
      const wait = Math.max(0, flight.startedAt + SLOW_MS - nowMs())
      const late = sleep(wait, null, { signal: patience.signal, ref: false }).catch(() => null)
      const result = await Promise.race([flight.result, late])
      return result ? { ...result, how: 'miss' } : { ...found(held), how: 'stale' }
    } catch (error) {
      if (!isPassing(error)) throw error
      held.retryAt = nowMs() + PAUSE_MS
      return { ...found(held), how: 'stale' }
    } finally {
      patience.abort()
    }
  }

  return {
    fresh: (key) => {
      const held = kept.get(key)
      if (!held) return undefined
      const now = found(held)
      const isGood = isYoung(now) || (now.ageMs < now.answer.freshness.maxAgeMs && flights.get(key) !== undefined)
      return isGood ? now : undefined
    },
    get: async (key, compute, client) => {
      const held = kept.get(key)
      if (held) {
        const now = found(held)
        if (now.ageMs < now.answer.freshness.maxAgeMs) {
          if (!isYoung(now) && nowMs() >= held.retryAt) renewInBackground(key, held, compute)
          return { ...now, how: 'hit' }
        }
        if (fallback(key)) return renewed(key, held, compute)
      }
      const flight = start(key, compute)
      flight.join(client)
      try {
        return { ...(await flight.result), how: 'miss' }
      } catch (error) {
        // An old answer may have been found in `shared` meanwhile.
        const old = isPassing(error) ? fallback(key) : null
        if (old === null) throw error
        return { ...old, how: 'stale' }
      }
    },
  }

  function renewInBackground(key: string, held: Held, compute: Compute): void {
    const flight = start(key, compute)
    flight.keep()
    flight.result.catch(() => {
      held.retryAt = nowMs() + PAUSE_MS
    })
  }
}
