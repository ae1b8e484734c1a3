import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Lease, TryLease } from './term.js'

type Options = {
  tryLease: TryLease
  leaseMs: number
  /** Called when the lease is waited for, with the reason, and again when the reason changes. */
  onWait: (reason: string) => void
  log: Logger
  signal: AbortSignal
}

/** How many times a lease is renewed in its time, so that one renewal may fail. */
const RENEWALS = 3

/**
 * Runs `work` whenever this process has the lease, until `signal` aborts. The signal that `work` gets aborts also when
 * the lease is lost, or could not be renewed in its time; it has to end then.
 */
export async function withLease(
  options: Options,
  work: (term: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { leaseMs, log, signal } = options
  while (!signal.aborted) {
    const lease = await waitForLease(options)
    if (!lease) return
    log.info({ term: lease.term }, 'has the lease')
    const lost = new AbortController()
    const renewing = renewUntilLost(lease, leaseMs, log, AbortSignal.any([signal, lost.signal])).finally(() =>
      lost.abort(),
    )
    try {
      await work(lease.term, AbortSignal.any([signal, lost.signal]))
    } finally {
      lost.abort()
      await renewing
      await lease
        .release()
        .catch((error: unknown) => log.warn({ reason: String(error) }, 'the lease runs out by itself'))
    }
  }
}

/** Resolves to null when `signal` aborts first. */
async function waitForLease({ tryLease, leaseMs, onWait, signal }: Options): Promise<Lease | null> {
  let told = ''
  while (!signal.aborted) {
    const lease = await tryLease().catch((error: Error) => error)
    if (lease && !(lease instanceof Error)) return lease
    const reason = lease?.message ?? 'another process runs them'
    if (reason !== told) onWait(reason)
    told = reason
    await pause(leaseMs / RENEWALS, signal)
  }
  return null
}

async function renewUntilLost(lease: Lease, leaseMs: number, log: Logger, signal: AbortSignal): Promise<void> {
  let renewedAt = performance.now()
  for (;;) {
    await pause(leaseMs / RENEWALS, signal)
    if (signal.aborted) return
    const askedAt = performance.now()
    try {
      if (!(await lease.renew())) return log.warn({ term: lease.term }, 'the lease is lost: another process has it')
      renewedAt = askedAt
    } catch (error) {
      log.warn({ reason: String(error) }, 'the lease was not renewed')
      if (performance.now() - renewedAt > leaseMs) return log.warn({ term: lease.term }, 'the lease has run out')
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})
