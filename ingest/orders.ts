import { LRUCache } from 'lru-cache'
import type { OrderTerms } from './stages/decode-swaps.js'
import { SwapDecodeError } from './stages/decode-swaps.js'

/** The terms of placed orders: a fill names only the order's id. */
export type Orders = {
  place: (orderId: bigint, terms: OrderTerms) => void
  /** Makes the terms of these orders known to `termsOf`, looked up where they are not at hand. */
  load: (orderIds: readonly bigint[]) => Promise<void>
  /** Throws SwapDecodeError for an order that was neither placed nor loaded. */
  termsOf: (orderId: bigint) => OrderTerms
}

/** Finds orders by id in the database; those it does not have are missing from the answer. */
type FindOrders = (orderIds: string[]) => Promise<Array<OrderTerms & { order_id: string }>>

/** Keeps the newest `capacity` orders at hand and looks the others up. */
export function createOrders(find: FindOrders, capacity = 200_000): Orders {
  const known = new LRUCache<bigint, OrderTerms>({ max: capacity })
  return {
    place: (orderId, terms) => {
      known.set(orderId, terms)
    },
    load: async (orderIds) => {
      const missing = [...new Set(orderIds)].filter((orderId) => !known.has(orderId))
      if (missing.length === 0) return
      for (const { order_id, ...terms } of await find(missing.map(String))) {
        known.set(BigInt(order_id), terms)
      }
    },
    termsOf: (orderId) => {
      const terms = known.get(orderId)
      if (!terms)
        throw new SwapDecodeError(
          `order ${orderId} was filled, but its placing was not seen: ingest has to start before it`,
        )
      return terms
    },
  }
}
