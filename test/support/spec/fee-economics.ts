import { z } from 'zod'
import { address, CoverageSpec, count, timestamp, tokens, txHash } from './shapes.js'

/** GET fee economics, now or with as_of. */
export const FeeEconomics = z.strictObject({
  as_of: timestamp.nullable(),
  totals: z.strictObject({
    users_electing: count,
    validators_electing: count,
    fees_distributed_7d_tokens: tokens,
    fees_distributed_all_time_tokens: tokens,
    distribution_count: count,
  }),
  stablecoins: z.array(
    z.strictObject({
      address,
      symbol: z.string(),
      name: z.string(),
      users_electing: count,
      validators_electing: count,
      fees_received_24h_tokens: tokens,
      fees_received_7d_tokens: tokens,
      fees_received_all_time_tokens: tokens,
      share_of_fees_7d_pct: z.number().min(0).max(100).nullable(),
      distribution_count: count,
    }),
  ),
  // Beyond the specification: an answer has at most 500 stables.
  next_cursor: z.string().nullable(),
  recent_distributions: z
    .array(
      z.strictObject({
        validator: address,
        validator_label: z.string().nullable(),
        token: address,
        token_symbol: z.string(),
        amount_tokens: tokens,
        block_number: count,
        block_timestamp: timestamp,
        tx_hash: txHash,
      }),
    )
    .max(10),
  coverage: CoverageSpec,
})
