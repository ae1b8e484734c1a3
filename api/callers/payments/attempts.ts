import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyBaseLogger } from 'fastify'
import pRetry from 'p-retry'
import {
  insertPaymentClaim,
  insertPaymentHash,
  insertPaymentStep,
  type Payment,
  type PaymentAttempt,
  type PaymentEnd,
  type PaymentStep,
  paymentSteps,
} from '../../../clickhouse/payments/ledger.js'

/** How long after its first use a credential still gets its answer, if it has none yet. */
const RETRIES_FOR_MS = 10 * 60_000
/** A process that has not recorded the result of a use by then was killed during it. */
const IN_USE_MS = 15_000
/** Most uses of one credential, so that a client that never reads its answer to the end cannot repeat it forever. */
const MOST_ATTEMPTS = 5

/** What may be done with a credential, depending on its history. */
export type Standing =
  | { kind: 'new' }
  /**
   * It was accepted, but its request has no answer yet: `hashes` are those that its transaction may have, newest first.
   */
  | { kind: 'open'; attempt: number; hashes: string[] }
  /** Another request is using it, or did when its process was killed. */
  | { kind: 'in use'; forMs: number }
  | { kind: 'refused'; detail: string }

const refused = (detail: string): Standing => ({ kind: 'refused', detail })

/** The standing of a credential after these steps, oldest first. */
export function standingAfter(
  steps: readonly PaymentStep[],
  { challenge_id, credential_digest }: Pick<Payment, 'challenge_id' | 'credential_digest'>,
): Standing {
  if (steps.some((step) => step.challenge_id !== challenge_id))
    return refused('this transaction has paid for another request')
  const [first] = steps
  if (!first) return { kind: 'new' }
  if (steps.some((step) => step.credential_digest !== credential_digest))
    return refused('this challenge has been answered with another payment')
  if (steps.some(({ step }) => step === 'answered')) return refused('this payment was already used for an answer')
  if (steps.some(({ step }) => step === 'failed')) return refused('this payment has failed')
  if (first.age_ms > RETRIES_FOR_MS) return refused('this payment is too old')
  const last = Math.max(...steps.map(({ attempt }) => attempt))
  const uses = steps.filter(({ attempt }) => attempt === last)
  const ageMs = Math.max(...uses.map(({ age_ms }) => age_ms))
  if (ageMs < IN_USE_MS && !uses.some(({ step }) => step === 'unanswered'))
    return { kind: 'in use', forMs: IN_USE_MS - ageMs }
  const attempt = last + 1
  if (attempt >= MOST_ATTEMPTS) return refused(`this payment has been presented ${MOST_ATTEMPTS} times`)
  return { kind: 'open', attempt, hashes: [...new Set(steps.map(({ tx_hash }) => tx_hash))].reverse() }
}

export type Ledger = {
  standing: (payment: Payment) => Promise<Standing>
  /** Resolves to the attempt, or to null if another request has it. */
  claim: (payment: Payment, attempt: number) => Promise<PaymentAttempt | null>
  /** Records that the transaction of a claimed attempt has another hash. */
  rehash: (payment: Payment, attempt: PaymentAttempt) => Promise<void>
  /** Records the result of a payment, with retries; if that fails, the chain still knows. */
  note: (payment: Payment, attempt: PaymentAttempt, step: PaymentEnd) => Promise<void>
}

const isEnd = ({ step }: PaymentStep): boolean => step === 'answered' || step === 'failed'

/** The payments in ClickHouse, which outlive every process. */
export function createLedger(records: ClickHouseClient, log: FastifyBaseLogger): Ledger {
  return {
    standing: async (payment) => standingAfter(await paymentSteps(records, payment), payment),
    claim: async (payment, first) => {
      for (let attempt = first; attempt < MOST_ATTEMPTS; attempt++) {
        const claim = randomUUID()
        await insertPaymentClaim(records, payment, { attempt, claim })
        const steps = await paymentSteps(records, payment)
        if (steps.some((step) => step.challenge_id !== payment.challenge_id || isEnd(step))) return null
        const claims = steps.filter((step) => step.attempt >= attempt).map((step) => step.claim)
        if (claims.length > 0) return claims.every((standing) => standing === claim) ? { attempt, claim } : null
        // If the database is killed between recording the claim's token and storing its row, the attempt is used up.
      }
      return null
    },
    rehash: (payment, attempt) => insertPaymentHash(records, payment, attempt),
    note: async (payment, attempt, step) => {
      try {
        await pRetry(() => insertPaymentStep(records, payment, attempt, step), { retries: 5, minTimeout: 200 })
      } catch (error) {
        const { challenge_id, tx_hash } = payment
        log.error({ challenge_id, tx_hash, step, reason: String(error) }, 'a step of a payment could not be recorded')
      }
    },
  }
}
