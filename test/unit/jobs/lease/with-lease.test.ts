import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { LeaseValidity } from '../../../../jobs/lease/term.js'
import { withLease } from '../../../../jobs/lease/with-lease.js'

/** Long enough for a busy machine to renew it in time. */
const LEASE_MS = 1500

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await sleep(5)
}

/** Runs work under a lease whose renewals are `renew`; resolves when it has ended. */
function underLease(
  renew: () => Promise<boolean>,
  signal: AbortSignal,
  work: (signal: AbortSignal, validity: LeaseValidity) => Promise<void>,
  { onRelease = () => {}, onRecovered = () => {} }: { onRelease?: () => void; onRecovered?: () => void } = {},
): Promise<void> {
  const tryLease = async () => ({ term: 1, renew, release: async () => onRelease() })
  const log = pino({ level: 'silent' })
  const options = { tryLease, leaseMs: LEASE_MS, onWait: () => {}, onRecovered, log, signal }
  return withLease(options, (_, signal, validity) => work(signal, validity))
}

test('a lease is renewed until the work has ended, and then released', async () => {
  const stop = new AbortController()
  const steps: string[] = []
  let renewals = 0
  const renew = async (): Promise<boolean> => {
    renewals++
    return true
  }
  await underLease(
    renew,
    stop.signal,
    async (signal, validity) => {
      stop.abort()
      expect(signal.aborted).toBe(true)
      await until(() => renewals >= 3 && validity.isValid)
      steps.push('ended')
    },
    { onRelease: () => steps.push('released') },
  )
  expect(steps).toEqual(['ended', 'released'])
})

test('a lease that cannot be renewed becomes invalid before another process can take it over', async () => {
  const stop = new AbortController()
  let isValidAtLoss: boolean | null = null
  let hasHung = false
  const renew = (): Promise<boolean> => {
    hasHung = true
    return new Promise((resolve) => setTimeout(() => resolve(false), LEASE_MS))
  }
  await underLease(renew, stop.signal, async (signal, validity) => {
    expect(validity.isValid).toBe(true)
    await until(() => hasHung)
    await until(() => !validity.isValid)
    await until(() => signal.aborted)
    isValidAtLoss = validity.isValid
    stop.abort()
  })
  expect(isValidAtLoss).toBe(false)
})

test('a renewal that arrives too late does not make the lease valid again; only the next one does', async () => {
  const stop = new AbortController()
  let validity: LeaseValidity | null = null
  const seen: boolean[] = []
  const renew = async (): Promise<boolean> => {
    if (seen.length === 0) await until(() => validity?.isValid === false)
    seen.push(validity?.isValid ?? true)
    return true
  }
  await underLease(renew, stop.signal, async (_, given) => {
    validity = given
    await until(() => seen.length >= 2 && given.isValid)
    stop.abort()
  })
  expect(seen.slice(0, 2)).toEqual([false, false])
})

test('a renewal that fails once, as in a failover, neither stops the work nor passes without a word', async () => {
  const stop = new AbortController()
  const steps: string[] = []
  let renewals = 0
  const renew = async (): Promise<boolean> => {
    if (++renewals === 1) throw new Error("READONLY You can't write against a read only replica.")
    return true
  }
  const work = async (signal: AbortSignal): Promise<void> => {
    await until(() => renewals >= 3)
    expect(signal.aborted).toBe(false)
    stop.abort()
  }
  await underLease(renew, stop.signal, work, { onRecovered: () => steps.push(`recovered at ${renewals}`) })
  expect(steps).toEqual(['recovered at 2'])
})
