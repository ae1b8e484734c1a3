import { z } from 'zod'
import { defineQuery } from '../../define-query.js'

/** To whom payments went, in what and for which realm, and a block from before the first; one row each. */
export const paymentAccounts = defineQuery({
  name: 'payment_accounts',
  params: z.object({}),
  row: z.object({ recipient: z.string(), currency: z.string(), realm: z.string(), from_block: z.int() }),
  sql: `
    WITH (SELECT min(recorded_at) - INTERVAL 10 MINUTE FROM payments) AS began
    SELECT DISTINCT recipient, currency, realm,
           toUInt32((SELECT if(countIf(block_time >= began) = 0, max(block_number), minIf(block_number, block_time >= began)) FROM blocks)) AS from_block
    FROM payments
    ORDER BY recipient, currency, realm`,
})

/** Every hash that a payment may have on the chain; `settled` is that of payments which are said to be there. */
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
