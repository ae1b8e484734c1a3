import type { FactPosition } from '../chain/position.js'

/** A book that was opened. */
export type DexPair = FactPosition & { base: string; quote: string; pair_key: string }

/** An order that stands on the other side of its book from here on. Integers are decimal strings. */
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

/** An order that was cancelled, or could not flip. */
export type DexOrderEnd = FactPosition & {
  kind: 'cancelled' | 'flip_failed'
  order_id: string
  maker: string | null
  reason: string | null
}
