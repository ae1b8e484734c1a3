import type { RequestCounter } from './request-counter.js'

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
const SWEEP = { least: 1000, factor: 2 }

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
  let sweepAt = SWEEP.least

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
    sweepAt = Math.max(SWEEP.least, askers.size * SWEEP.factor)
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
