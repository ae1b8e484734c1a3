import type { DexOrder } from '../../clickhouse/tables/dex-orders.js'
import type { QuoteTokenUpdate } from '../../clickhouse/tables/quote-token-updates.js'
import type { Stablecoin } from '../../clickhouse/tables/stablecoins.js'
import type { SupplyEvent } from '../../clickhouse/tables/supply-events.js'
import type { ChainEvent } from '../chain/events.js'
import type { BlockWithLogs } from '../sources/blocks.js'

/** Facts that a block's logs state by themselves, in log order. */
export type BlockFacts = {
  stablecoins: Stablecoin[]
  quoteTokenUpdates: QuoteTokenUpdate[]
  orders: DexOrder[]
  supplyEvents: SupplyEvent[]
  /** Stables whose supply, cap, pause or policy the block may have changed. */
  touched: Set<string>
  /** A policy's admin changed, which may concern any stable. */
  policiesTouched: boolean
}

/** `stable` is quoted in what, at this point of the log; called for stables that exist. */
type QuoteTokenOf = (stable: string) => string

function supplyEvent(event: ChainEvent): Pick<SupplyEvent, 'kind' | 'account' | 'amount_raw'> | null {
  switch (event.name) {
    case 'Mint':
      return { kind: 'mint', account: event.args.to, amount_raw: event.args.amount.toString() }
    case 'Burn':
      return { kind: 'burn', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'BurnBlocked':
      return { kind: 'burn_blocked', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'SupplyCapUpdate':
      return { kind: 'cap', account: event.args.updater, amount_raw: event.args.newSupplyCap.toString() }
    default:
      return null
  }
}

/** Sorts a block's events into facts. `listed` holds the addresses of the public token list. */
export function blockFacts(
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  events: readonly ChainEvent[],
  listed: ReadonlySet<string>,
  quoteTokenBefore: QuoteTokenOf,
): BlockFacts {
  const facts: BlockFacts = {
    stablecoins: [],
    quoteTokenUpdates: [],
    orders: [],
    supplyEvents: [],
    touched: new Set(),
    policiesTouched: false,
  }
  // A stable's quote token may change, or be set, within the block.
  const quoteTokens = new Map<string, string>()
  for (const event of events) {
    const at = { block_number: block.number, log_index: event.logIndex, block_time: block.time, tx_hash: event.txHash }
    const supply = supplyEvent(event)
    if (supply) {
      facts.supplyEvents.push({ ...supply, stable: event.address, ...at })
      facts.touched.add(event.address)
    }
    switch (event.name) {
      case 'TokenCreated': {
        const { token: stable, symbol, name, currency, quoteToken: quote_token, admin } = event.args
        const tier = listed.has(stable) ? 'listed' : 'unlisted'
        facts.stablecoins.push({ stable, symbol, name, currency, quote_token, admin, tier, ...at })
        facts.touched.add(stable)
        quoteTokens.set(stable, quote_token)
        break
      }
      case 'QuoteTokenUpdate':
        facts.quoteTokenUpdates.push({ stable: event.address, quote_token: event.args.newQuoteToken, ...at })
        quoteTokens.set(event.address, event.args.newQuoteToken)
        break
      case 'OrderPlaced': {
        const {
          orderId,
          maker,
          token: base,
          isBid: is_bid,
          tick,
          amount,
          isFlipOrder: is_flip,
          flipTick: flip_tick,
        } = event.args
        const quote = quoteTokens.get(base) ?? quoteTokenBefore(base)
        const order_id = orderId.toString()
        facts.orders.push({
          order_id,
          maker,
          base,
          quote,
          is_bid,
          tick,
          amount_raw: amount.toString(),
          is_flip,
          flip_tick,
          ...at,
        })
        break
      }
      case 'PauseStateUpdate':
      case 'TransferPolicyUpdate':
        facts.touched.add(event.address)
        break
      case 'PolicyAdminUpdated':
        facts.policiesTouched = true
        break
      default:
    }
  }
  return facts
}
