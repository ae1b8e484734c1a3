import { contentOf, type ExchangeEvent, isExchangeLog } from '../../clickhouse/exchange/events.js'
import type { DexFill, DexOrderFlip, DexPair } from '../../clickhouse/flows/dex.js'
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

/** The logs of a block that change what the exchange quotes. */
export const exchangeEvents = ({ number, time }: EventBlock, events: Events): ExchangeEvent[] =>
  events.flatMap((event) =>
    isExchangeLog(event)
      ? [{ ...contentOf(event), block_number: number, log_index: event.logIndex, block_time: time }]
      : [],
  )

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
