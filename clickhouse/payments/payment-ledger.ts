import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** To whom payments went, in what and for which realm; one row each. */
export const paymentAccounts = defineQuery({
  name: 'payment_accounts',
  params: z.object({}),
  row: z.object({ recipient: z.string(), currency: z.string(), realm: z.string() }),
  sql: 'SELECT DISTINCT recipient, currency, realm FROM payments ORDER BY recipient, currency, realm',
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
