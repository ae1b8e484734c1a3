import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** What is paid, by whom and how; the columns are described in the migration. */
export type Payment = {
  challenge_id: string
  credential_digest: string
  scope: string
  mode: 'pull' | 'push'
  payer: string
  recipient: string
  currency: string
  amount_raw: string
  chain_id: number
  realm: string
  tx_hash: string
}

/** Who uses the credential, and for the how manieth time. */
export type PaymentAttempt = { attempt: number; claim: string }

/** What becomes of a payment that was accepted. */
export type PaymentEnd = 'settled' | 'answered' | 'failed' | 'unanswered'

/**
 * Claims an attempt. It is claimed once only: a second claim changes nothing, and its author finds the first one's row.
 */
export function insertPaymentClaim(
  clickhouse: ClickHouseClient,
  payment: Payment,
  attempt: PaymentAttempt,
): Promise<void> {
  const row = { ...payment, ...attempt, step: 'accepted' }
  return insertRows(clickhouse, 'payments', [row], `${payment.challenge_id}:accepted:${attempt.attempt}`)
}

/** Records that the attempt's transaction has another hash than was claimed: a fee payer has signed it. */
export function insertPaymentHash(
  clickhouse: ClickHouseClient,
  payment: Payment,
  attempt: PaymentAttempt,
): Promise<void> {
  const row = { ...payment, ...attempt, step: 'accepted' }
  const token = `${payment.challenge_id}:accepted:${attempt.attempt}:${payment.tx_hash}`
  return insertRows(clickhouse, 'payments', [row], token)
}

/** Records what became of a payment. Repeating it changes nothing. */
export function insertPaymentStep(
  clickhouse: ClickHouseClient,
  payment: Payment,
  attempt: PaymentAttempt,
  step: PaymentEnd,
): Promise<void> {
  const of = step === 'unanswered' ? `:${attempt.attempt}` : ''
  return insertRows(clickhouse, 'payments', [{ ...payment, ...attempt, step }], `${payment.challenge_id}:${step}${of}`)
}
