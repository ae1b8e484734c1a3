import { z } from 'zod'
import type { FactPosition } from '../chain/blocks.js'
import { isInUseAt } from '../chain/token-lists.js'
import { defineOptionalRow, defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { Truncated } from './texts.js'

const count = z.int().nonnegative()

/** A stablecoin as it was created, with its texts as they are kept. Genesis tokens have block 0 and an empty transaction hash. */
const Stablecoin = z.object({
  stable: z.string(),
  symbol: z.string(),
  name: z.string(),
  currency: z.string(),
  truncated: Truncated,
  quote_token: z.string(),
  admin: z.string(),
  block_number: count,
  log_index: count,
  block_time: count,
  tx_hash: z.string(),
})
export type Stablecoin = z.infer<typeof Stablecoin>

/** A stable is quoted in another token from this log on. */
export type QuoteTokenUpdate = FactPosition & { stable: string; quote_token: string }

/**
 * Every stablecoin created before a block, in order of creation, with the quote token it had at that block.
 * `block_time` in unix seconds.
 */
export const allStablecoins = defineQuery({
  name: 'all_stablecoins',
  params: z.object({ before_block: count }),
  row: Stablecoin,
  sql: `
    SELECT stable, symbol, name, currency, truncated, if(updates.quote_token = '', stablecoins.quote_token, updates.quote_token) AS quote_token,
           admin, toUInt32(block_number) AS block_number, log_index, toUnixTimestamp(block_time) AS block_time, tx_hash
    FROM stablecoins
    LEFT JOIN
    (
        SELECT stable, argMax(quote_token, (block_number, log_index)) AS quote_token
        FROM quote_token_updates WHERE block_number < {before_block: UInt64} GROUP BY stable
    ) AS updates USING stable
    WHERE block_number < {before_block: UInt64}
    ORDER BY block_number, log_index, stable`,
})

/**
 * What stables created before a block were quoted in up to it, in order: from their creation, and from each change on.
 */
export const quoteTokenHistory = defineQuery({
  name: 'quote_token_history',
  params: z.object({ before_block: count }),
  row: z.object({ stable: z.string(), quote_token: z.string(), block_number: count }),
  sql: `
    SELECT stable, quote_token, toUInt32(number) AS block_number
    FROM
    (
        SELECT stable, quote_token, block_number AS number, log_index FROM stablecoins
        UNION ALL
        SELECT stable, quote_token, block_number, log_index FROM quote_token_updates
    )
    WHERE number < {before_block: UInt64}
    ORDER BY number, log_index`,
})

/**
 * Every tracked stable, where it was created, and whether it is in use now, in no order. `block_time` in unix seconds; block 0
 * is the genesis block.
 */
export const stablecoinCreations = defineQuery({
  name: 'stablecoin_creations',
  row: z.object({ stable: z.string(), block_number: count, block_time: count, in_use: z.boolean() }),
  sql: `
    SELECT stable, toUInt32(block_number) AS block_number, toUnixTimestamp(block_time) AS block_time, ${isInUseAt('now()')}::Bool AS in_use
    FROM stablecoins`,
})

/** Every stable that is in use at `at`, its currency and where it was created, in unix seconds; ordered by address. */
export const stablesInUse = defineQuery({
  name: 'stables_in_use',
  params: z.object({ at: z.date() }),
  row: z.object({ stable: z.string(), currency: z.string(), created_block: count, created_at: count }),
  sql: `
    SELECT stable, currency, toUInt32(stablecoins.block_number) AS created_block, toUnixTimestamp(block_time) AS created_at
    FROM stablecoins WHERE block_time <= {at: DateTime} AND ${isInUseAt('{at: DateTime}')}
    ORDER BY stable`,
})

/** The symbols and names of the stables that existed at `at`, ordered by address. */
export const stablecoinNames = defineQuery({
  name: 'stablecoin_names',
  params: z.object({ at: z.date() }),
  row: z.object({ address: z.string(), symbol: z.string(), name: z.string() }),
  sql: `
    SELECT stable AS address, symbol, name FROM stablecoins
    WHERE block_time <= {at: DateTime} ORDER BY address`,
})

/** The symbols of those of these stables that are known. */
export const symbolsOf = defineQuery({
  name: 'stablecoin_symbols',
  params: z.object({ stables: z.array(z.string()) }),
  row: z.object({ address: z.string(), symbol: z.string() }),
  sql: 'SELECT stable AS address, symbol FROM stablecoins WHERE stable IN {stables: Array(String)}',
})

/**
 * When and by whom a stable was created; null for an unknown address. A stable of the genesis block has block 0 and no
 * admin.
 */
export const stablecoinOrigin = defineOptionalRow({
  name: 'stablecoin_origin',
  params: z.object({ stable: z.string() }),
  row: z.object({ block_number: z.int(), created_at: dateTime, admin: z.string() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, block_time AS created_at, admin
    FROM stablecoins WHERE stable = {stable: String}
    ORDER BY stablecoins.block_number LIMIT 1`,
})
