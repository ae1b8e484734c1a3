import type { Flow } from '../../clickhouse/tables/flows.js'
import type { PegSample } from '../../clickhouse/tables/peg-samples.js'
import type { ChainEvent } from '../chain/events.js'
import type { OrderTerms } from '../orders.js'
import { decodeSwaps } from './decode-swaps.js'
import type { EventBlock } from './position.js'
import { swapFlow } from './price-flow.js'

/** Whether there may be flows among a block's events. */
export const hasFlows = (events: readonly ChainEvent[]): boolean => events.some(({ name }) => name === 'OrderFilled')

/** The swaps of a block as flows, in log order, valued at the block's own `samples`. */
export function swapFlows(
  block: EventBlock,
  events: readonly ChainEvent[],
  orderOf: (orderId: bigint, at: ChainEvent) => OrderTerms,
  samples: readonly PegSample[],
): Flow[] {
  if (!hasFlows(events)) return []
  const byTransaction = new Map<string, ChainEvent[]>()
  for (const event of events) {
    const own = byTransaction.get(event.txHash)
    if (own) own.push(event)
    else byTransaction.set(event.txHash, [event])
  }
  const prices = new Map(samples.map(({ stable, sell_micros }) => [stable, sell_micros]))
  return [...byTransaction.values()]
    .flatMap((own) => decodeSwaps(own, orderOf))
    .map((swap) => swapFlow(block, swap, prices))
}
