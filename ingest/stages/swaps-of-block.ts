import type { ChainEvent } from '../chain/event-types.js'
import type { OrderTerms } from '../knowledge/orders.js'
import { decodeSwaps, type Swap } from './decode-swaps.js'

/** Whether there may be swaps among a block's events. */
export const hasSwaps = (events: readonly ChainEvent[]): boolean => events.some(({ name }) => name === 'OrderFilled')

/** The swaps of a block, in log order. `orderOf` gives the terms that an order had at an event. */
export function swapsOf(
  events: readonly ChainEvent[],
  orderOf: (orderId: bigint, at: ChainEvent) => OrderTerms,
): Swap[] {
  if (!hasSwaps(events)) return []
  const byTransaction = new Map<string, ChainEvent[]>()
  for (const event of events) {
    const own = byTransaction.get(event.txHash)
    if (own) own.push(event)
    else byTransaction.set(event.txHash, [event])
  }
  return [...byTransaction.values()].flatMap((own) => decodeSwaps(own, orderOf))
}
