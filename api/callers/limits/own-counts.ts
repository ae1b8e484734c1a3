/** What an asker has consumed in a window that ends in `resetMs`. */
export type Count = { consumed: number; resetMs: number }

/** Counts in this process alone. */
export type OwnCounts = {
  count: (asker: string, points: number) => Count
  consumed: (asker: string) => number
}

/** Windows that are over are forgotten when this many have been begun, or this many times as many as are open. */
const SWEEP = { least: 1000, factor: 2 }

/**
 * Counts in windows of `windowMs`, each of which begins with its first request. Not by a library, all of which give promises:
 * what answers before Fastify is asked decides at once. `nowMs` is a clock that only goes forward.
 */
export function createOwnCounts(windowMs: number, nowMs = () => performance.now()): OwnCounts {
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
      return { consumed: window.consumed, resetMs: window.endsAt - now }
    },
    consumed: (asker) => {
      const window = windows.get(asker)
      return window === undefined || window.endsAt <= nowMs() ? 0 : window.consumed
    },
  }
}
