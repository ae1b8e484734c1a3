/** What a caller has consumed in a window that ends in `resetMs`. */
export type Count = { consumed: number; resetMs: number }

/** Counts in this process alone. */
type LocalCounts = {
  count: (asker: string, points: number) => Count
  consumed: (asker: string) => number
}

/** Expired windows are removed when this many exist, or `factor` times as many as are open. */
const SWEEP = { least: 1000, factor: 2 }

/**
 * Counts in windows of `windowMs`, each of which begins with its first request. Not by a library, because they all
 * return promises, and the fast lane must decide synchronously. `nowMs` is a monotonic clock.
 */
export function createLocalCounts(windowMs: number, nowMs = () => performance.now()): LocalCounts {
  const windows = new Map<string, { consumed: number; endsAt: number }>()
  let sweepAt = SWEEP.least

  function sweep(now: number): void {
    for (const [asker, { endsAt }] of windows) if (endsAt <= now) windows.delete(asker)
    sweepAt = Math.max(SWEEP.least, windows.size * SWEEP.factor)
  }

  return {
    count: (asker, points) => {
      const now = nowMs()
      let window = windows.get(asker)
      if (window === undefined || window.endsAt <= now) {
        if (windows.size >= sweepAt) sweep(now)
        window = { consumed: 0, endsAt: now + windowMs }
        windows.set(asker, window)
      }
      window.consumed += points
      // Rounding can make the difference slightly larger than the window: 60.00000001 s would be shown as 61.
      return { consumed: window.consumed, resetMs: Math.min(window.endsAt - now, windowMs) }
    },
    consumed: (asker) => {
      const window = windows.get(asker)
      return window === undefined || window.endsAt <= nowMs() ? 0 : window.consumed
    },
  }
}

/** Local counts are reported to `consume` after this long, in milliseconds. */
const REPORT_AFTER_MS = 20
/** Requests are counted locally while the caller is below this share of the limit, by the shared count. */
const FAR_BELOW = 1 / 2
/**
 * Largest share of the limit that a process counts locally: even sixteen processes together stay below the limit.
 */
const SHARE = 1 / 32

type Tally = {
  /** The shared count when it was last read. */
  consumed: number
  endsAt: number
  /** Counted locally since then. */
  unreported: number
  isReporting: boolean
}

/** Callers whose window has expired are removed when this many are known, or `factor` times as many as remain. */
const SWEEP_DEFERRED = { least: 1000, factor: 2 }

/**
 * Counts locally while a caller is far below the limit, and reports the count to `consume` a moment later: one exchange
 * for many requests. Close to the limit, each request is counted before it is answered, so that the limit holds exactly
 * across all processes. `nowMs` is a monotonic clock.
 */
export function createDeferredCounts(
  consume: RequestCounter['count'],
  nowMs: () => number = () => performance.now(),
): RequestCounter {
  const askers = new Map<string, Tally>()
  let sweepAt = SWEEP_DEFERRED.least

  function remember(asker: string, consumed: number, resetMs: number): void {
    const tally = askers.get(asker)
    const endsAt = nowMs() + resetMs
    if (tally) Object.assign(tally, { consumed, endsAt })
    else {
      if (askers.size >= sweepAt) sweep()
      askers.set(asker, { consumed, endsAt, unreported: 0, isReporting: false })
    }
  }

  function sweep(): void {
    const now = nowMs()
    for (const [asker, { endsAt, unreported, isReporting }] of askers)
      if (endsAt <= now && unreported === 0 && !isReporting) askers.delete(asker)
    sweepAt = Math.max(SWEEP_DEFERRED.least, askers.size * SWEEP_DEFERRED.factor)
  }

  /** Includes the local count. */
  async function count(asker: string, points: number) {
    const tally = askers.get(asker)
    const unreported = tally?.unreported ?? 0
    if (tally) tally.unreported = 0
    const counted = await consume(asker, points + unreported)
    remember(asker, counted.consumed, counted.resetMs)
    return counted
  }

  function report(asker: string, tally: Tally): void {
    tally.isReporting = true
    setTimeout(async () => {
      // Never rejects: `consume` falls back to counting in this process.
      if (tally.unreported > 0) await count(asker, 0)
      tally.isReporting = false
      if (tally.unreported > 0) report(asker, tally)
    }, REPORT_AFTER_MS).unref()
  }

  return {
    count,
    countNow: (asker, limit) => {
      const tally = askers.get(asker)
      const now = nowMs()
      if (tally === undefined || tally.endsAt <= now) return null
      if (tally.consumed >= limit * FAR_BELOW || tally.unreported >= Math.floor(limit * SHARE)) return null
      tally.unreported += 1
      if (!tally.isReporting) report(asker, tally)
      return { consumed: tally.consumed + tally.unreported, resetMs: tally.endsAt - now }
    },
  }
}

/** Counts what each caller consumes. It refuses nothing: every caller has its own limit. */
export type RequestCounter = {
  count: (asker: string, points: number) => Promise<Count>
  /** Counts one request at once if that certainly stays within `limit`; null if `count` must decide. */
  countNow: (asker: string, limit: number) => Count | null
}
