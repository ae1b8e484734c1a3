import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

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

/** What happened to the payment of a challenge, and to those of other challenges with the same transaction; oldest first. */
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
