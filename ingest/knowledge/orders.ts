import { LRUCache } from 'lru-cache'
import type { DexOrder } from '../../clickhouse/flows/dex.js'
import { inParts } from '../../clickhouse/store/in-parts.js'
import { PlumblineError } from '../../process/errors.js'

/** What decoding a fill needs to know about its order. */
export type OrderTerms = Pick<DexOrder, 'base' | 'quote' | 'is_bid' | 'tick'>

/** A log's place in the chain. */
type LogPlace = { blockNumber: number; logIndex: number }

/** The side and price of an order from a log on: from its placement, and from each flip. */
type OrderSide = Pick<DexOrder, 'is_bid' | 'tick' | 'block_number' | 'log_index'>

/** A fill of an order that was placed before the first known block, or by an event that is not understood. */
export class UnknownOrderError extends PlumblineError {
  constructor(orderId: bigint) {
    super(`order ${orderId} was filled, but its placement is unknown`, { retryable: false })
  }
}

/** The terms of orders by id, because a fill names only the order. */
export type Orders = {
  place: (orderId: bigint, order: OrderTerms & OrderSide) => void
  /** Records that an order is on the other side from a log on. */
  flip: (orderId: bigint, side: OrderSide) => void
  /** Makes the terms of these orders available to `termsOf`; looks up those that are not cached. */
  load: (orderIds: readonly bigint[]) => Promise<void>
  /** The terms of an order before a log. Throws for an order that was neither placed nor loaded. */
  termsOf: (orderId: bigint, before: LogPlace) => OrderTerms
}

/** An order as it was placed, or as it flipped; both have the tokens of the placement. */
export type FoundOrder = OrderTerms & OrderSide & { order_id: string }

/** Finds orders, with all their sides, by id in the database; unknown ids are missing from the result. */
type FindOrders = (orderIds: string[]) => Promise<FoundOrder[]>

type OrderWithSides = Pick<DexOrder, 'base' | 'quote'> & { sides: OrderSide[] }

const isBefore = (side: OrderSide, { blockNumber, logIndex }: LogPlace): boolean =>
  side.block_number < blockNumber || (side.block_number === blockNumber && side.log_index < logIndex)

const byPlace = (a: OrderSide, b: OrderSide): number => a.block_number - b.block_number || a.log_index - b.log_index

/** The sides in chain order, without duplicates. */
const inOrder = (sides: readonly OrderSide[]): OrderSide[] =>
  [...sides].sort(byPlace).filter((side, i, sorted) => i === 0 || byPlace(sorted[i - 1] as OrderSide, side) !== 0)

/** Caches the newest `capacity` orders and looks the others up. */
export function createOrders(find: FindOrders, capacity = 200_000): Orders {
  const orders = new LRUCache<bigint, OrderWithSides>({ max: capacity })
  // Flips of orders that are not cached: the database has them only once their block is written.
  const flips = new LRUCache<bigint, OrderSide[]>({ max: capacity })
  return {
    place: (orderId, { base, quote, is_bid, tick, block_number, log_index }) => {
      orders.set(orderId, { base, quote, sides: [{ is_bid, tick, block_number, log_index }] })
    },
    flip: (orderId, { is_bid, tick, block_number, log_index }) => {
      const side = { is_bid, tick, block_number, log_index }
      const order = orders.get(orderId)
      if (order) order.sides.push(side)
      else flips.set(orderId, [...(flips.get(orderId) ?? []), side])
    },
    load: async (orderIds) => {
      const missing = [...new Set(orderIds)].filter((orderId) => !orders.has(orderId))
      if (missing.length === 0) return
      const loaded = new Map<bigint, OrderWithSides>()
      for (const { order_id, base, quote, ...side } of await inParts(missing.map(String), find)) {
        const order = loaded.get(BigInt(order_id)) ?? { base, quote, sides: [] }
        order.sides.push(side)
        loaded.set(BigInt(order_id), order)
      }
      for (const [orderId, { base, quote, sides }] of loaded) {
        if (orders.has(orderId)) continue
        orders.set(orderId, { base, quote, sides: inOrder([...sides, ...(flips.get(orderId) ?? [])]) })
      }
    },
    termsOf: (orderId, before) => {
      const order = orders.get(orderId)
      const side = order?.sides.findLast((candidate) => isBefore(candidate, before))
      if (!order || !side) throw new UnknownOrderError(orderId)
      return { base: order.base, quote: order.quote, is_bid: side.is_bid, tick: side.tick }
    },
  }
}
