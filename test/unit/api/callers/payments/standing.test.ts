import { describe, expect, test } from 'vitest'
import { standingAfter } from '../../../../../api/callers/payments/attempts.js'
import { scopeOf } from '../../../../../api/callers/payments/terms.js'
import type { PaymentStep } from '../../../../../clickhouse/payments/ledger.js'

const own = { challenge_id: 'c', credential_digest: 'd' }
const MINUTE = 60_000
const step = (changes: Partial<PaymentStep> = {}): PaymentStep => ({
  ...own,
  step: 'accepted',
  attempt: 0,
  claim: 'x',
  tx_hash: '0x1',
  age_ms: 20_000,
  ...changes,
})

describe('a credential', () => {
  test('that was never used is new', () => {
    expect(standingAfter([], own)).toEqual({ kind: 'new' })
  })

  test('that was accepted or settled but not answered may be used again, with its possible hashes', () => {
    const steps = [step(), step({ tx_hash: '0x2' }), step({ step: 'settled', tx_hash: '0x2' }), step({ attempt: 1 })]
    expect(standingAfter(steps, own)).toEqual({ kind: 'open', attempt: 2, hashes: ['0x2', '0x1'] })
  })

  test('that is in use, or was when its process died, must be presented later; at once if it had no answer', () => {
    const used = step({ attempt: 1, age_ms: 4000 })
    expect(standingAfter([step(), used], own)).toEqual({ kind: 'in use', forMs: 11_000 })
    expect(standingAfter([step(), { ...used, age_ms: 15_000 }], own)).toMatchObject({ kind: 'open', attempt: 2 })
    const ended = { ...used, step: 'unanswered', age_ms: 1000 } as const
    expect(standingAfter([step(), used, ended], own)).toMatchObject({ kind: 'open', attempt: 2 })
    expect(standingAfter([{ ...ended, attempt: 0 }, used], own)).toMatchObject({ kind: 'in use' })
  })

  test.for([
    ['was already used for an answer', [step(), step({ step: 'settled' }), step({ step: 'answered' })]],
    ['has failed', [step(), step({ step: 'failed' })]],
    ['another payment', [step({ credential_digest: 'e' })]],
    ['paid for another request', [step({ challenge_id: 'b' })]],
    ['too old', [step({ age_ms: 10 * MINUTE + 1 })]],
    ['5 times', [0, 1, 2, 3, 4].map((attempt) => step({ attempt }))],
  ] as const)('is refused: %s', ([why, steps]) => {
    expect(standingAfter(steps, own)).toEqual({ kind: 'refused', detail: expect.stringContaining(why) })
  })

  test('is accepted up to its last millisecond, and for a fifth time', () => {
    const steps = [0, 1, 2, 3].map((attempt) => step({ attempt, age_ms: (10 - attempt) * MINUTE }))
    expect(standingAfter(steps, own)).toMatchObject({ kind: 'open', attempt: 4 })
  })
})

test('a scope distinguishes requests, but not spellings of one request', () => {
  const scope = scopeOf('/a/:b', { b: '1' }, { from: 1, to: { y: 2, x: [3, 4] } })
  expect(scope).toBe(scopeOf('/a/:b', { b: '1' }, { to: { x: [3, 4], y: 2 }, from: 1 }))
  const others = [
    scopeOf('/a/:c', { b: '1' }, { from: 1, to: { y: 2, x: [3, 4] } }),
    scopeOf('/a/:b', { b: '2' }, { from: 1, to: { y: 2, x: [3, 4] } }),
    scopeOf('/a/:b', { b: '1' }, { from: '1', to: { y: 2, x: [3, 4] } }),
    scopeOf('/a/:b', { b: '1' }, { from: 1, to: { y: 2, x: [4, 3] } }),
    scopeOf('/a/:b', { b: '1' }, { from: 1 }),
    scopeOf('/a/:b', { b: '1', from: 1 }, { to: { y: 2, x: [3, 4] } }),
  ]
  expect(new Set([scope, ...others]).size).toBe(others.length + 1)
})
