import { setTimeout as sleep } from 'node:timers/promises'

/** How long an answer waits for what is newer, in milliseconds: a replica that lags fetches it first. */
const PATIENCE_MS = 2000

/** What `newer` resolves to, or `before` if that takes longer than an answer waits. Without `before`, waits as long as it takes. */
export async function orBefore<Known>(newer: Promise<Known>, before: Known | undefined): Promise<Known> {
  if (before === undefined) return newer
  const done = new AbortController()
  const late = sleep(PATIENCE_MS, before, { signal: done.signal }).catch(() => before)
  // Who is late may still fail, when nobody waits any more.
  newer.catch(() => undefined)
  return Promise.race([newer, late]).finally(() => done.abort())
}
