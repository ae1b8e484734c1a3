import { setTimeout as sleep } from 'node:timers/promises'
import { PlumblineError } from '../../../process/errors.js'
import type { Memories } from '../../../process/memory.js'
import { SharedWork } from '../../../process/shared-work.js'
import type { Answer } from './answer.js'
import type { AgedAnswer, SharedAnswers } from './shared-answers.js'

/**
 * The result of a request, and its source: `hit` from memory, `miss` computed or fetched for it, `stale` older than it
 * should be.
 */
export type Outcome = AgedAnswer & { how: 'hit' | 'miss' | 'stale' }

/** Computes an answer. Stops when the signal aborts. */
type Compute = (signal: AbortSignal) => Promise<Answer>

export type AnswerCache = {
  /** An answer that can be sent at once and does not need to be renewed by this request. */
  fresh: (key: string) => AgedAnswer | undefined
  /** An answer by its key, computed once for all concurrent requests. Rejects with the error of `compute`. */
  get: (key: string, compute: Compute, client: AbortSignal) => Promise<Outcome>
}

/** An answer in memory, when it was computed, and when a failed renewal may be tried again, by the monotonic clock. */
type Entry = { answer: Answer; since: number; retryAt: number }

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
const isYoung = ({ answer, ageMs }: AgedAnswer): boolean => ageMs < answer.freshness.maxAgeMs * RENEW_AT
const isCurrent = ({ answer, ageMs }: AgedAnswer): boolean => ageMs < answer.freshness.maxAgeMs

/** Answers of up to `maxBytes` in this process by their keys, with their ages. */
function createAgedAnswers(memories: Memories, maxBytes: number, nowMs: () => number) {
  const entries = memories.entries<string, Entry>({
    name: 'answers',
    holds: 'whole answers, as they are sent',
    until: 'its max-age, at most an hour; while ClickHouse fails, 10 min more, of a final one a day',
    maxBytes,
    bytesOf: ({ answer }) => answer.size,
  })
  const aged = ({ answer, since }: Entry): AgedAnswer => ({ answer, ageMs: nowMs() - since })
  return {
    aged,
    get: (key: string): Entry | undefined => entries.get(key),
    has: (key: string): boolean => entries.peek(key) !== undefined,
    keep: (key: string, { answer, ageMs }: AgedAnswer): AgedAnswer => {
      entries.set(key, { answer, since: nowMs() - ageMs, retryAt: 0 })
      return { answer, ageMs }
    },
    /** The old answer, if there is one that is not too old. */
    fallback: (key: string): AgedAnswer | null => {
      const entry = entries.peek(key)
      if (!entry) return null
      const { answer, ageMs } = aged(entry)
      return ageMs < answer.freshness.maxAgeMs + answer.freshness.staleMs ? { answer, ageMs } : null
    },
  }
}
type AgedAnswers = ReturnType<typeof createAgedAnswers>

/** Waits for the process that is computing the answer; null if it does not deliver one. */
async function awaitOtherProcess(shared: SharedAnswers, key: string, nowMs: () => number): Promise<AgedAnswer | null> {
  for (const deadline = nowMs() + OTHERS_MS; nowMs() < deadline; await sleep(LOOK_MS)) {
    // Before looking: a process that has released its claim has put its answer.
    const isClaimed = await shared.claim(key)
    const answer = await shared.find(key)
    if (answer && isYoung(answer)) {
      if (isClaimed) void shared.release(key)
      return answer
    }
    if (isClaimed) return null
  }
  return null
}

/**
 * Computes an answer and keeps it in `memory`, or fetches it from the process that computes it already. An answer is of the time
 * at which computing began: under load that may be seconds before it is there.
 */
function createComputing(memory: AgedAnswers, shared: SharedAnswers | null, nowMs: () => number) {
  const made = async (compute: Compute, signal: AbortSignal): Promise<AgedAnswer> => {
    const startedAt = nowMs()
    return { answer: await compute(signal), ageMs: nowMs() - startedAt }
  }
  return async (key: string, compute: Compute, signal: AbortSignal): Promise<AgedAnswer> => {
    if (shared === null) return memory.keep(key, await made(compute, signal))
    const stored = await shared.find(key)
    if (stored && isYoung(stored)) return memory.keep(key, stored)
    // An old answer is better than none if ClickHouse is unreachable.
    if (stored && !memory.has(key)) memory.keep(key, stored)
    const awaited = (await shared.claim(key)) ? null : await awaitOtherProcess(shared, key, nowMs)
    if (awaited) return memory.keep(key, awaited)
    try {
      const answer = await made(compute, signal)
      void shared.put(key, answer).then(() => shared.release(key))
      return memory.keep(key, answer)
    } catch (error) {
      void shared.release(key)
      throw error
    }
  }
}

/** An answer that is being computed, since when. */
type Flight = SharedWork<AgedAnswer> & { startedAt: number }
type Flights = Map<string, Flight>

/** The work under way for a key, or new work. */
function startFlight(
  flights: Flights,
  key: string,
  startedAt: number,
  compute: (signal: AbortSignal) => Promise<AgedAnswer>,
): Flight {
  const running = flights.get(key)
  if (running && !running.isAbandoned) return running
  const land = (): void => {
    if (flights.get(key) === flight) flights.delete(key)
  }
  const flight = Object.assign(new SharedWork((signal) => compute(signal).finally(land)), { startedAt })
  flights.set(key, flight)
  return flight
}

type AnswerCacheDeps = { maxBytes: number; memories: Memories; shared: SharedAnswers | null; nowMs: () => number }

/**
 * Keeps answers of up to `maxBytes` in memory, and shares them between processes through `shared`, if there is one.
 * `nowMs` is a monotonic clock.
 */
export function createAnswerCache({ maxBytes, memories, shared, nowMs }: AnswerCacheDeps): AnswerCache {
  const memory = createAgedAnswers(memories, maxBytes, nowMs)
  const flights: Flights = new Map()
  const computeOnce = createComputing(memory, shared, nowMs)
  const start = (key: string, compute: Compute): Flight =>
    startFlight(flights, key, nowMs(), (signal) => computeOnce(key, compute, signal))

  function renewInBackground(key: string, entry: Entry, compute: Compute): void {
    const flight = start(key, compute)
    flight.keep()
    flight.result.catch(() => {
      entry.retryAt = nowMs() + PAUSE_MS
    })
  }

  /** The renewed answer, or the old one if renewing is slow or fails temporarily. */
  async function renewed(key: string, entry: Entry, compute: Compute): Promise<Outcome> {
    const old = memory.aged(entry)
    if (nowMs() < entry.retryAt) return { ...old, how: 'stale' }
    const flight = start(key, compute)
    flight.keep()
    const patience = new AbortController()
    try {
      const wait = Math.max(0, flight.startedAt + SLOW_MS - nowMs())
      const late = sleep(wait, null, { signal: patience.signal, ref: false }).catch(() => null)
      const result = await Promise.race([flight.result, late])
      return result ? { ...result, how: 'miss' } : { ...memory.aged(entry), how: 'stale' }
    } catch (error) {
      if (!isPassing(error)) throw error
      entry.retryAt = nowMs() + PAUSE_MS
      return { ...memory.aged(entry), how: 'stale' }
    } finally {
      patience.abort()
    }
  }

  /** The answer of the work that is under way, or of new work. */
  async function computed(key: string, compute: Compute, client: AbortSignal): Promise<Outcome> {
    const flight = start(key, compute)
    flight.join(client)
    try {
      return { ...(await flight.result), how: 'miss' }
    } catch (error) {
      // An old answer may have been found in `shared` meanwhile.
      const old = isPassing(error) ? memory.fallback(key) : null
      if (old === null) throw error
      return { ...old, how: 'stale' }
    }
  }

  return {
    fresh: (key) => {
      const entry = memory.get(key)
      if (!entry) return undefined
      const aged = memory.aged(entry)
      return isYoung(aged) || (isCurrent(aged) && flights.get(key)?.isAbandoned === false) ? aged : undefined
    },
    get: async (key, compute, client) => {
      const entry = memory.get(key)
      if (!entry) return computed(key, compute, client)
      const aged = memory.aged(entry)
      if (isCurrent(aged)) {
        if (!isYoung(aged) && nowMs() >= entry.retryAt) renewInBackground(key, entry, compute)
        return { ...aged, how: 'hit' }
      }
      return memory.fallback(key) ? renewed(key, entry, compute) : computed(key, compute, client)
    },
  }
}
