import { z } from 'zod'
import { defineQuery } from '../define-query.js'

/** The terms of the orders with these ids, in no order; ids that were never placed are missing. */
export const dexOrdersById = defineQuery({
  name: 'dex_orders_by_id',
  params: z.object({ order_ids: z.array(z.string().regex(/^\d+$/)) }),
  row: z.object({ order_id: z.string(), base: z.string(), quote: z.string(), is_bid: z.boolean(), tick: z.int() }),
  sql: `
    SELECT toString(order_id) AS order_id, base, quote, is_bid, tick
    FROM dex_orders
    WHERE order_id IN (SELECT toUInt128(arrayJoin({order_ids: Array(String)})))`,
})
