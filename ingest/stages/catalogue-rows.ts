import type { Facts } from '../../clickhouse/facts/facts.js'
import { keptTexts } from '../../clickhouse/stablecoins/texts.js'
import type { ChainEvent } from '../chain/event-types.js'
import { dexOrderFlips, dexPairs, exchangeEvents } from './dex-orders.js'
import { roleEvents } from './roles.js'
import { type EventBlock, position } from './rows.js'

/**
 * What is needed to read later blocks: stables, their quote tokens, books, orders, all that changes what the exchange quotes,
 * and who may issue which stable.
 */
export type Catalogue = Pick<
  Facts,
  | 'stablecoins'
  | 'quote_token_updates'
  | 'dex_pairs'
  | 'dex_orders'
  | 'dex_order_flips'
  | 'exchange_events'
  | 'role_events'
>

/** The quote token of `stable` at this point of the log; undefined for one of which no creation is known. */
type QuoteTokenOf = (stable: string) => string | undefined

/**
 * What a block's events add to the catalogue, in log order.  `quoteTokenBefore` gives a stable's quote token before the block.
 * An order for a token of which no creation is known is left out: `unplaced` has it.
 */
export function catalogueRows(
  block: EventBlock,
  events: readonly ChainEvent[],
  quoteTokenBefore: QuoteTokenOf,
): Catalogue & { unplaced: ChainEvent[] } {
  const unplaced: ChainEvent[] = []
  const added: Catalogue = {
    stablecoins: [],
    quote_token_updates: [],
    dex_pairs: dexPairs(block, events),
    dex_orders: [],
    dex_order_flips: dexOrderFlips(block, events),
    exchange_events: exchangeEvents(block, events),
    role_events: roleEvents(block, events),
  }
  // A stable's quote token may change, or be set, within the block.
  const quoteTokens = new Map<string, string>()
  for (const event of events) {
    const at = position(block, event)
    if (event.name === 'TokenCreated') {
      const { token: stable, quoteToken: quote_token, admin } = event.args
      added.stablecoins.push({ stable, ...keptTexts(event.args), quote_token, admin, ...at })
      quoteTokens.set(stable, quote_token)
    } else if (event.name === 'QuoteTokenUpdate') {
      added.quote_token_updates.push({ stable: event.address, quote_token: event.args.newQuoteToken, ...at })
      quoteTokens.set(event.address, event.args.newQuoteToken)
    } else if (event.name === 'OrderPlaced') {
      const { orderId, maker, token: base, isBid, tick, amount, isFlipOrder, flipTick } = event.args
      const quote = quoteTokens.get(base) ?? quoteTokenBefore(base)
      if (quote === undefined) {
        unplaced.push(event)
        continue
      }
      added.dex_orders.push({
        order_id: orderId.toString(),
        maker,
        base,
        quote,
        is_bid: isBid,
        tick,
        amount_raw: amount.toString(),
        is_flip: isFlipOrder,
        flip_tick: flipTick,
        ...at,
      })
    }
  }
  return { ...added, unplaced }
}
