import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

const count = z.int().nonnegative()

const StablecoinRow = z.object({
  stable: z.string(),
  symbol: z.string(),
  name: z.string(),
  currency: z.string(),
  quote_token: z.string(),
  admin: z.string(),
  tier: z.enum(['listed', 'unlisted']),
  block_number: count,
  log_index: count,
  block_time: count,
  tx_hash: z.string(),
})

/**
 * Every stablecoin created before a block, in order of creation, with the quote token it had then. `block_time` in unix
 * seconds.
 */
export const allStablecoins = defineQuery({
  name: 'all_stablecoins',
  params: z.object({ before_block: count }),
  row: StablecoinRow,
  sql: `
    SELECT stable, symbol, name, currency, if(updates.quote_token = '', stablecoins.quote_token, updates.quote_token) AS quote_token,
           admin, tier, toUInt32(block_number) AS block_number, log_index, toUnixTimestamp(block_time) AS block_time, tx_hash
    FROM stablecoins
    LEFT JOIN
    (
        SELECT stable, argMax(quote_token, (block_number, log_index)) AS quote_token
        FROM quote_token_updates WHERE block_number < {before_block: UInt64} GROUP BY stable
    ) AS updates USING stable
    WHERE block_number < {before_block: UInt64}
    ORDER BY block_number, log_index, stable`,
})
