import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { currenciesOn } from './currencies.js'

/** A payment; the columns are described in clickhouse/schema. */
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

/**
 * One use of a payment's credential: how many attempts were made before, and the random id of the request that makes
 * it.
 */
export type PaymentAttempt = { attempt: number; claim: string }

/** The steps that may follow the acceptance of a payment. */
export type PaymentEnd = 'settled' | 'answered' | 'failed' | 'unanswered'

/**
 * Claims an attempt. An attempt can be claimed only once: a second claim changes nothing, and its writer reads the
 * first one's row.
 */
export function insertPaymentClaim(
  clickhouse: ClickHouseClient,
  payment: Payment,
  attempt: PaymentAttempt,
): Promise<void> {
  const row = { ...payment, ...attempt, step: 'accepted' }
  return insertRows(clickhouse, 'payments', [row], `${payment.challenge_id}:accepted:${attempt.attempt}`)
}

/** Records that the attempt's transaction has a different hash than was claimed, because a fee payer has signed it. */
export function insertPaymentHash(
  clickhouse: ClickHouseClient,
  payment: Payment,
  attempt: PaymentAttempt,
): Promise<void> {
  const row = { ...payment, ...attempt, step: 'accepted' }
  const token = `${payment.challenge_id}:accepted:${attempt.attempt}:${payment.tx_hash}`
  return insertRows(clickhouse, 'payments', [row], token)
}

/** Records a further step of a payment. Repeating it changes nothing. */
export function insertPaymentStep(
  clickhouse: ClickHouseClient,
  payment: Payment,
  attempt: PaymentAttempt,
  step: PaymentEnd,
): Promise<void> {
  const occasion = step === 'unanswered' ? `:${attempt.attempt}` : ''
  return insertRows(
    clickhouse,
    'payments',
    [{ ...payment, ...attempt, step }],
    `${payment.challenge_id}:${step}${occasion}`,
  )
}

export const PaymentStep = z.object({
  challenge_id: z.string(),
  step: z.enum(['accepted', 'settled', 'answered', 'failed', 'unanswered']),
  attempt: z.int(),
  claim: z.string(),
  credential_digest: z.string(),
  tx_hash: z.string(),
  /** By the server's clock. */
  age_ms: z.int(),
})
export type PaymentStep = z.infer<typeof PaymentStep>

/** The steps of a challenge's payment, and of other challenges' payments with the same transaction; oldest first. */
export const paymentSteps = defineQuery({
  name: 'payment_steps',
  params: z.object({ challenge_id: z.string(), tx_hash: z.string() }),
  row: PaymentStep,
  sql: `
    SELECT challenge_id, step, attempt, claim, credential_digest, tx_hash,
           toInt32(least(dateDiff('millisecond', recorded_at, now64(3)), 0x7fffffff)) AS age_ms
    FROM
    (
        SELECT * FROM payments WHERE challenge_id = {challenge_id: String}
        UNION ALL
        SELECT * FROM payments WHERE tx_hash = {tx_hash: String} AND challenge_id != {challenge_id: String}
    )
    ORDER BY recorded_at, step, attempt`,
})

/** The distinct recipients, currencies and realms of all payments. */
export const paymentAccounts = defineQuery({
  name: 'payment_accounts',
  row: z.object({ recipient: z.string(), currency: z.string(), realm: z.string() }),
  sql: 'SELECT DISTINCT recipient, currency, realm FROM payments ORDER BY recipient, currency, realm',
})

/** Every transaction hash that a payment may have on the chain; `is_settled` if the payment is recorded as settled. */
export const paymentHashes = defineQuery({
  name: 'payment_hashes',
  params: z.object({ recipient: z.string(), currency: z.string() }),
  row: z.object({ tx_hash: z.string(), challenge_id: z.string(), amount_raw: z.string(), is_settled: z.boolean() }),
  sql: `
    SELECT tx_hash, challenge_id, toString(any(amount_raw)) AS amount_raw, max(step = 'settled')::Bool AS is_settled
    FROM payments WHERE recipient = {recipient: String} AND currency = {currency: String}
    GROUP BY tx_hash, challenge_id
    ORDER BY tx_hash, challenge_id`,
})

/** Who receives payments, in which TIP-20 token, for the answers of which service. Addresses in lower case. */
export type Payee = { recipient: string; currency: string; realm: string }

type PayeeEnv = {
  PAYMENT_RECIPIENT?: string | undefined
  PAYMENT_CURRENCY?: readonly string[] | undefined
  PUBLIC_URL?: string | undefined
}

/** The realm of payments: the host of PUBLIC_URL. */
export const realmOf = ({ PUBLIC_URL = 'http://localhost' }: PayeeEnv): string => new URL(PUBLIC_URL).hostname

/** The payees that the environment names on a chain, one for each currency; none if it names no recipient. */
export function payeesOf(env: PayeeEnv, chainId: number): Payee[] {
  const { PAYMENT_RECIPIENT: recipient, PAYMENT_CURRENCY } = env
  if (recipient === undefined) return []
  return currenciesOn(chainId, PAYMENT_CURRENCY).map((currency) => ({ recipient, currency, realm: realmOf(env) }))
}
