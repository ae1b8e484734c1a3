import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Lease, LeaseValidity, type TryLease } from './term.js'

type Options = {
  tryLease: TryLease
  leaseMs: number
  /** Called with the reason when this process starts waiting for the lease, and again when the reason changes. */
  onWait: (reason: string) => void
  /** Called when a lease is renewed after a renewal that failed, such as one during a failover: the work went on. */
  onRecovered: () => void
  log: Logger
  signal: AbortSignal
}

/** How often a lease is renewed within its duration, so that one renewal may fail. */
const RENEWALS_PER_LEASE = 3
/** The share of the lease's duration that is relied on: another process can only take over after it. */
const RELIABLE_SHARE = 2 / RENEWALS_PER_LEASE

/**
 * Runs `work` whenever this process has the lease, until `signal` aborts. The signal that `work` receives also aborts
 * if the lease is lost or could not be renewed in time. `work` must end then; this process keeps the lease until it
 * has. Before anything that must not be done twice, `work` checks `validity`.
 */
export async function withLease(
  options: Options,
  work: (term: number, signal: AbortSignal, validity: LeaseValidity) => Promise<void>,
): Promise<void> {
  const { leaseMs, log, signal } = options
  while (!signal.aborted) {
    const lease = await waitForLease(options)
    if (!lease) return
    log.info({ term: lease.term }, 'lease acquired')
    const lost = new AbortController()
    const validity = new LeaseValidity()
    validity.set(validUntil(lease.requestedAt, leaseMs))
    const renewing = renewUntilLost(lease, validity, options, lost.signal).finally(() => lost.abort())
    try {
      await work(lease.term, AbortSignal.any([signal, lost.signal]), validity)
    } finally {
      lost.abort()
      await renewing
      await lease
        .release()
        .catch((error: unknown) =>
          log.warn({ reason: String(error) }, 'the lease could not be released; it will expire'),
        )
    }
  }
}

/** Resolves to null when `signal` aborts first. */
async function waitForLease({
  tryLease,
  leaseMs,
  onWait,
  signal,
}: Options): Promise<(Lease & { requestedAt: bigint }) | null> {
  let lastReason = ''
  while (!signal.aborted) {
    const requestedAt = process.hrtime.bigint()
    const lease = await tryLease().catch((error: Error) => error)
    if (lease && !(lease instanceof Error)) return { ...lease, requestedAt }
    const reason = lease?.message ?? 'another process runs the jobs'
    if (reason !== lastReason) onWait(reason)
    lastReason = reason
    await pause(leaseMs / RENEWALS_PER_LEASE, signal)
  }
  return null
}

async function renewUntilLost(
  lease: Lease & { requestedAt: bigint },
  validity: LeaseValidity,
  { leaseMs, onRecovered, log }: Options,
  signal: AbortSignal,
): Promise<void> {
  let renewedAt = lease.requestedAt
  let hasFailed = false
  let pauseMs = leaseMs / RENEWALS_PER_LEASE
  for (;;) {
    await pause(pauseMs, signal)
    pauseMs = leaseMs / RENEWALS_PER_LEASE
    if (signal.aborted) return
    const requestedAt = process.hrtime.bigint()
    try {
      if (!(await lease.renew())) return log.warn({ term: lease.term }, 'the lease is lost: another process has it')
      // A renewal this late may have been made while another process takes over; only the next renewal can tell.
      if (process.hrtime.bigint() < validUntil(renewedAt, leaseMs)) validity.set(validUntil(requestedAt, leaseMs))
      else pauseMs = 0
      renewedAt = requestedAt
      if (hasFailed) onRecovered()
      hasFailed = false
    } catch (error) {
      hasFailed = true
      log.warn({ reason: String(error) }, 'the lease could not be renewed')
      if (process.hrtime.bigint() - renewedAt > BigInt(leaseMs) * 1_000_000n)
        return log.warn({ term: lease.term }, 'the lease has expired')
    }
  }
}

const validUntil = (requestedAtNs: bigint, leaseMs: number): bigint =>
  requestedAtNs + BigInt(Math.floor(leaseMs * RELIABLE_SHARE * 1e6))

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})
