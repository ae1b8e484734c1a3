import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * The orders with these ids as they were placed, and as they were after each flip, in no order: side and price count from
 * the log with `block_number` and `log_index` on. Ids that were never placed are missing.
 */
export const dexOrdersById = defineQuery({
  name: 'dex_orders_by_id',
  params: z.object({ order_ids: z.array(z.string().regex(/^\d+$/)) }),
  row: z.object({
    order_id: z.string(),
    base: z.string(),
    quote: z.string(),
    is_bid: z.boolean(),
    tick: z.int(),
    block_number: z.int(),
    log_index: z.int(),
  }),
  sql: `
    WITH
        ids AS (SELECT toUInt128(arrayJoin({order_ids: Array(String)})) AS order_id),
        placed AS
        (
            SELECT order_id, base, quote, is_bid, tick, block_number, log_index
            FROM dex_orders WHERE order_id IN (SELECT order_id FROM ids)
        ),
        sides AS
        (
            SELECT order_id, is_bid, tick, block_number, log_index FROM placed
            UNION ALL
            SELECT order_id, is_bid, tick, block_number, log_index
            FROM dex_order_flips WHERE order_id IN (SELECT order_id FROM ids)
        )
    SELECT toString(sides.order_id) AS order_id, placed.base AS base, placed.quote AS quote, sides.is_bid AS is_bid,
           sides.tick AS tick, toUInt32(sides.block_number) AS block_number, sides.log_index AS log_index
    FROM sides
    INNER JOIN placed ON placed.order_id = sides.order_id`,
})
