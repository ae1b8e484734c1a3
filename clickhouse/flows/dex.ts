import { z } from 'zod'
import type { FactPosition } from '../chain/blocks.js'
import { defineQuery } from '../store/define-query.js'

/** A pair whose order book was created. */
export type DexPair = FactPosition & { base: string; quote: string; pair_key: string }

/**
 * An order that moved to the other side of its book: from this log on, it has this side and price. Integers are decimal
 * strings.
 */
export type DexOrderFlip = FactPosition & {
  order_id: string
  maker: string
  base: string
  is_bid: boolean
  tick: number
  amount_raw: string
  flip_tick: number
}

/** A fill of an order, with the order's terms at that moment. Integers are decimal strings. */
export type DexFill = FactPosition & {
  order_id: string
  maker: string
  taker: string
  base: string
  quote: string
  is_bid: boolean
  tick: number
  base_raw: string
  quote_raw: string
  is_partial: boolean
}

/** An order as placed on the DEX. `quote` is the quote token of `base` at that moment. Integers are decimal strings. */
export type DexOrder = FactPosition & {
  order_id: string
  maker: string
  base: string
  quote: string
  is_bid: boolean
  tick: number
  amount_raw: string
  is_flip: boolean
  flip_tick: number
}

/**
 * The orders with these ids, as placed and as after each flip, in no order. Side and price apply from the log with
 * `block_number` and `log_index` on. Ids that were never placed have no row.
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
