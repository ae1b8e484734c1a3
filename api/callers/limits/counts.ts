/** What an asker has consumed in a window that ends in `resetMs`. */
export type Count = { consumed: number; resetMs: number }

/** Counts in this process alone. */
type OwnCounts = {
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
      // A sum of doubles less one of its terms may be more than the other: 60.00000001 s would be shown as 61.
      return { consumed: window.consumed, resetMs: Math.min(window.endsAt - now, windowMs) }
    },
    consumed: (asker) => {
      const window = windows.get(asker)
      return window === undefined || window.endsAt <= nowMs() ? 0 : window.consumed
    },
  }
}

/** What is counted ahead is told to the others after this long, in milliseconds. */
const TELL_AFTER_MS = 20
/** Ahead are counted the requests of those who are below this part of their limit, by what everybody has counted. */
const FAR_BELOW = 1 / 2
/** So large a part of the limit each process counts ahead at most: as many as sixteen of them together stay below it. */
const SHARE = 1 / 32

type Known = {
  /** As everybody had counted when the counts were last told. */
  consumed: number
  endsAt: number
  /** Counted here since. */
  ahead: number
  telling: boolean
}

/** Askers whose window is over are forgotten when this many are known, or this many times as many as are left. */
const SWEEP_AHEAD = { least: 1000, factor: 2 }

/**
 * Lets a process count by itself while an asker is far below his limit, and tells what it has counted in `consume` a
 * moment later: one exchange for many requests. Close to the limit each request is counted before it is answered, so
 * that the limit holds exactly, whichever processes it is counted in. `nowMs` is a clock that only goes forward.
 */
export function createCountsAhead(
  consume: RequestCounter['count'],
  nowMs: () => number = () => performance.now(),
): RequestCounter {
  const askers = new Map<string, Known>()
  let sweepAt = SWEEP_AHEAD.least

  function remember(asker: string, consumed: number, resetMs: number): void {
    const known = askers.get(asker)
    const endsAt = nowMs() + resetMs
    if (known) Object.assign(known, { consumed, endsAt })
    else {
      if (askers.size >= sweepAt) sweep()
      askers.set(asker, { consumed, endsAt, ahead: 0, telling: false })
    }
  }

  function sweep(): void {
    const now = nowMs()
    for (const [asker, { endsAt, ahead, telling }] of askers)
      if (endsAt <= now && ahead === 0 && !telling) askers.delete(asker)
    sweepAt = Math.max(SWEEP_AHEAD.least, askers.size * SWEEP_AHEAD.factor)
  }

  /** Takes what was counted ahead along. */
  async function count(asker: string, points: number) {
    const known = askers.get(asker)
    const ahead = known?.ahead ?? 0
    if (known) known.ahead = 0
    const counted = await consume(asker, points + ahead)
    remember(asker, counted.consumed, counted.resetMs)
    return counted
  }

  function tell(asker: string, known: Known): void {
    known.telling = true
    setTimeout(async () => {
      // Never rejects: who cannot tell the others counts for himself.
      if (known.ahead > 0) await count(asker, 0)
      known.telling = false
      if (known.ahead > 0) tell(asker, known)
    }, TELL_AFTER_MS).unref()
  }

  return {
    count,
    countNow: (asker, limit) => {
      const known = askers.get(asker)
      const now = nowMs()
      if (known === undefined || known.endsAt <= now) return null
      if (known.consumed >= limit * FAR_BELOW || known.ahead >= Math.floor(limit * SHARE)) return null
      known.ahead += 1
      if (!known.telling) tell(asker, known)
      return { consumed: known.consumed + known.ahead, resetMs: known.endsAt - now }
    },
  }
}

/** Counts what each of many askers consumes. It refuses nothing: every asker has a limit of his own. */
export type RequestCounter = {
  count: (asker: string, points: number) => Promise<Count>
  /** Counts one request at once, where that leads nobody above `limit`; null where it has to be asked for with `count`. */
  countNow: (asker: string, limit: number) => Count | null
}
