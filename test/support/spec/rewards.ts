import { z } from 'zod'
import { address, CoverageSpec, count, rawInteger, timestamp, tokens, txHash } from './shapes.js'

const sums = {
  address,
  distribution_count: count,
  distributed: z.strictObject({ last_24h_tokens: tokens, last_7d_tokens: tokens, all_time_tokens: tokens }),
  opt_in: z.strictObject({ recipient_count: count, distinct_recipients: count, redirected_count: count }),
  top_funders: z
    .array(
      z.strictObject({
        address,
        label: z.string().nullable(),
        distribution_count: count,
        total_amount_tokens: tokens,
      }),
    )
    .max(10),
  recent_distributions: z
    .array(
      z.strictObject({
        funder: address,
        funder_label: z.string().nullable(),
        amount_tokens: tokens,
        block_number: count,
        block_timestamp: timestamp,
        tx_hash: txHash,
      }),
    )
    .max(10),
  // Beyond the specification.
  coverage: CoverageSpec,
}

/** GET rewards of now, of a stable whose state was read. */
export const LiveRewards = z.strictObject({
  ...sums,
  as_of: z.null(),
  effective_apy_pct: z.number().nullable(),
  opted_in_supply: rawInteger,
  opted_in_tokens: tokens,
  global_reward_per_token: rawInteger,
})

/** GET rewards with as_of: live reads are omitted, only historical sums remain. */
export const PastRewards = z.strictObject({ ...sums, as_of: timestamp })
