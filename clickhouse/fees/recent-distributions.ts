import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { blockNumber, blockTimestamp, txHash } from '../store/values.js'

export const FeeDistributionRow = z.object({
  validator: z.string().meta({ description: 'Address of the validator who was paid' }),
  token: z.string().meta({ description: 'Address of the stable that it was paid in' }),
  token_symbol: z.string().meta({ description: 'The address where the token is no known stable' }),
  amount_tokens: z.number().nonnegative().meta({ description: 'In whole tokens' }),
  block_number: blockNumber,
  block_timestamp: blockTimestamp,
  tx_hash: txHash,
})

/** The last ten payments of fees to validators up to `at`, newest first. */
export const recentFeeDistributions = nearFirst(
  defineQuery({
    name: 'recent_fee_distributions',
    params: z.object({ at: z.date(), is_near: z.boolean() }),
    row: FeeDistributionRow,
    sql: `
    SELECT validator, recent.stable AS token, if(stablecoins.stable = '', recent.stable, symbol) AS token_symbol,
           toFloat64(amount_raw) / 1e6 AS amount_tokens, toUInt32(recent.number) AS block_number,
           time AS block_timestamp, recent.hash AS tx_hash
    FROM
    (
        SELECT validator, stable, amount_raw, block_number AS number, log_index AS log, block_time AS time, tx_hash AS hash
        FROM fee_distributions
        WHERE block_time <= {at: DateTime} AND ${near('block_time', 'at')}
        ORDER BY time DESC, number DESC, log DESC LIMIT 10
    ) AS recent
    LEFT JOIN stablecoins ON stablecoins.stable = recent.stable
    ORDER BY time DESC, number DESC, log DESC`,
  }),
  (rows) => rows.length === 10,
)
