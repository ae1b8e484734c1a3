import { z } from 'zod'
import { roleFields } from './roles.js'
import { address, CoverageSpec, count, rawInteger, timestamp, txHash } from './shapes.js'

const item = {
  address,
  symbol: z.string(),
  name: z.string(),
  // null if the stable has no price; beyond the specification, which only covers stables with a price.
  peg: z.looseObject({ price: z.number(), spread_bps: z.number().min(0) }).nullable(),
  supply: z.strictObject({ current: rawInteger, cap: rawInteger.nullable() }),
  policy: z.looseObject({ type: z.string().min(1), policy_admin: address.nullable() }),
}

const beyond = {
  currency: z.string(),
  truncated: z.array(z.enum(['symbol', 'name', 'currency'])),
  tier: z.string(),
  in_use: z.boolean(),
  symbol_shared: z.boolean(),
  quote: z
    .strictObject({
      quoted: z.boolean(),
      unquoted_since: timestamp.nullable(),
      unquoted_since_is_bound: z.boolean(),
    })
    .nullable(),
  coverage: CoverageSpec,
  tracked: z.boolean(),
  max_deviation_24h_bps: z.number().min(0).nullable(),
  risk_score: z.number().min(0).max(100).nullable(),
  open_break: z
    .strictObject({ severity: z.enum(['mild', 'severe']), started_at: timestamp, started_block: count })
    .nullable(),
}

/** GET list, now or, beyond the specification, with as_of. */
export const StablecoinList = z.strictObject({
  as_of: timestamp.optional(),
  stablecoins: z.array(z.strictObject({ ...item, ...beyond })),
  next_cursor: z.string().nullable(),
})

/** GET detail: the item, its role holders and its recent supply events, whose fields are not specified. */
export const StablecoinDetail = z.strictObject({
  as_of: timestamp.optional(),
  ...item,
  ...beyond,
  role_holders: z.strictObject(roleFields),
  recent_supply_events: z
    .array(
      z.strictObject({
        kind: z.enum(['mint', 'burn', 'burn_blocked', 'cap']),
        account: address,
        amount: rawInteger,
        block_number: count,
        log_index: count,
        block_timestamp: timestamp,
        tx_hash: txHash,
      }),
    )
    .max(10),
})
