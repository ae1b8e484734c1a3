import { z } from 'zod'
import { defineRow } from '../store/define-query.js'

const orderId = z.string().regex(/^\d+$/)

/**
 * The number of stored catalogue rows of the blocks `from_block` to `to_block`, both included. Of the orders, only
 * those with ids from `from_order` to `to_order`, both included, count: orders are found by id, not by block. The
 * genesis stables of block 0 do not count.
 */
export const catalogueCounts = defineRow({
  name: 'catalogue_counts',
  params: z.object({ from_block: z.int(), to_block: z.int(), from_order: orderId, to_order: orderId }),
  row: z.object({
    stablecoins: z.int(),
    quote_token_updates: z.int(),
    dex_pairs: z.int(),
    dex_orders: z.int(),
    dex_order_flips: z.int(),
    role_events: z.int(),
  }),
  sql: `
    SELECT
        (SELECT toUInt32(count()) FROM stablecoins
         WHERE block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64} AND block_number > 0) AS stablecoins,
        (SELECT toUInt32(count()) FROM quote_token_updates
         WHERE block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}) AS quote_token_updates,
        (SELECT toUInt32(count()) FROM dex_pairs
         WHERE block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}) AS dex_pairs,
        (SELECT toUInt32(count()) FROM dex_orders
         WHERE order_id BETWEEN toUInt128({from_order: String}) AND toUInt128({to_order: String})
           AND block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}) AS dex_orders,
        (SELECT toUInt32(count()) FROM dex_order_flips
         WHERE block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}) AS dex_order_flips,
        (SELECT toUInt32(count()) FROM role_events
         WHERE block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}) AS role_events`,
})
