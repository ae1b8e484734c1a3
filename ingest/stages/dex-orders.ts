import type { DexFill, DexOrderEnd, DexOrderFlip, DexPair } from '../../clickhouse/flows/dex.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { OrderTerms } from '../knowledge/orders.js'
import { type EventBlock, rowsOf } from './rows.js'

import { legOf } from './swaps.js'

type Events = readonly ChainEvent[]

/** The books that were opened in a block. */
export const dexPairs = (block: EventBlock, events: Events): DexPair[] =>
  rowsOf(block, events, (event) =>
    event.name === 'PairCreated' ? { base: event.args.base, quote: event.args.quote, pair_key: event.args.key } : null,
  )

/** The orders that flipped to the other side of their book in a block. */
export const dexOrderFlips = (block: EventBlock, events: Events): DexOrderFlip[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'OrderFlipped') return null
    const { orderId, maker, token, amount, isBid, tick, flipTick } = event.args
    return {
      order_id: orderId.toString(),
      maker,
      base: token,
      is_bid: isBid,
      tick,
      amount_raw: amount.toString(),
      flip_tick: flipTick,
    }
  })

/** The orders that were cancelled in a block, or could not flip. */
export const dexOrderEnds = (block: EventBlock, events: Events): DexOrderEnd[] =>
  rowsOf(block, events, (event) => {
    if (event.name === 'OrderCancelled') {
      return { kind: 'cancelled', order_id: event.args.orderId.toString(), maker: null, reason: null }
    }
    if (event.name === 'FlipFailed') {
      const { orderId, maker, reason } = event.args
      return { kind: 'flip_failed', order_id: orderId.toString(), maker, reason }
    }
    return null
  })

/** The fills of a block. `orderOf` returns the terms that an order had at an event. */
export const dexFills = (
  block: EventBlock,
  events: Events,
  orderOf: (orderId: bigint, at: ChainEvent) => OrderTerms,
): DexFill[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'OrderFilled') return null
    const { orderId, maker, taker, amountFilled, partialFill } = event.args
    const terms = orderOf(orderId, event)
    const { base, quote, is_bid, tick } = terms
    return {
      order_id: orderId.toString(),
      maker,
      taker,
      base,
      quote,
      is_bid,
      tick,
      base_raw: amountFilled.toString(),
      quote_raw: legOf(terms, amountFilled).quoteAmount.toString(),
      is_partial: partialFill,
    }
  })
