import type { FastifyInstance } from 'fastify'
import { askerOf } from '../callers/limits/plugin.js'

/** Which callers have taken more than their share lately. */
export type FairShares = {
  /** Counts a request that is being answered. */
  add: (caller: string) => void
  /** Whether a caller has had at least as many requests as the average caller, in the last 5 to 10 seconds. */
  isLarge: (caller: string) => boolean
}

/** Requests are forgotten after one to two of these. */
const HALF_WINDOW_MS = 5000
/** Most callers that are counted in half a window; later ones are as small as new ones. */
const MOST_CALLERS = 50_000

type Half = { counts: Map<string, number>; total: number; startedAt: number }

/**
 * Counts the requests of callers. Requests that are refused are not counted, so under a lasting overload the largest
 * callers are refused until all have had the same. A caller alone is its own average. `nowMs` is a monotonic clock.
 */
export function createFairShares(nowMs = () => performance.now()): FairShares {
  const fresh = (): Half => ({ counts: new Map(), total: 0, startedAt: nowMs() })
  let previous = fresh()
  let current = fresh()
  /** Callers in both halves. */
  let callers = 0

  function turn(): void {
    const age = nowMs() - current.startedAt
    if (age < HALF_WINDOW_MS) return
    const before = current
    current = fresh()
    previous = age < 2 * HALF_WINDOW_MS ? before : fresh()
    callers = previous.counts.size
  }

  return {
    add: (caller) => {
      turn()
      const count = current.counts.get(caller)
      if (count === undefined) {
        if (current.counts.size >= MOST_CALLERS) return
        if (!previous.counts.has(caller)) callers += 1
      }
      current.counts.set(caller, (count ?? 0) + 1)
      current.total += 1
    },
    isLarge: (caller) => {
      turn()
      const count = (current.counts.get(caller) ?? 0) + (previous.counts.get(caller) ?? 0)
      return count > 0 && count * callers >= current.total + previous.total
    },
  }
}

/** Counts every request that was not refused before, by caller. Call it after `limits` and before the routes are added. */
export function countShares(app: FastifyInstance, shares: FairShares): void {
  app.decorate('shares', shares)
  app.addHook('onRequest', ({ caller, ip, routeOptions }, _, done) => {
    if (!routeOptions.config.always) shares.add(askerOf(caller, ip))
    done()
  })
}

declare module 'fastify' {
  interface FastifyInstance {
    shares: FairShares
  }
}
