import { route, type Swap } from './actions.js'
import { baseForQuote, baseToSell, quoteForBase, quoteToBuy } from './dex-math.js'
import type { RestingOrder } from './ladder.js'
import type { MarketPlan } from './plan.js'

/** Every order on the DEX, tracked by the market itself without asking the node. */
export type Books = {
  nextOrderId: bigint
  /** The market maker's orders by stable. */
  ladders: Map<string, RestingOrder[]>
  /** Flipped orders of the flip maker, which are cancelled in the next block. */
  flipped: { id: bigint; stable: string }[]
}

/** The part of a swap that one order fills. `base` is micro-units. */
export type Fill = { order: RestingOrder; base: bigint }
export type SwapOutcome = { fills: Fill[]; amountIn: bigint; amountOut: bigint }

export const emptyBooks = (): Books => ({ nextOrderId: 1n, ladders: new Map(), flipped: [] })

/**
 * The exact outcome of a swap on the DEX, or null when the best order of a book on its route is too small: the market
 * never lets a swap exhaust a price level, which would move a planned price.
 */
export function outcomeOf(plan: MarketPlan, books: Books, swap: Swap): SwapOutcome | null {
  const { sells, buys } = route(plan, swap)
  const legs = [
    ...sells.map((stable) => ({ stable, selling: true })),
    ...buys.map((stable) => ({ stable, selling: false })),
  ]
  const fills: Fill[] = []
  let amount = swap.amount
  for (const leg of swap.exact === 'in' ? legs : legs.toReversed()) {
    const order = topOrder(books, leg.stable, leg.selling)
    if (!order) return null
    const { tick } = order
    let base: bigint
    if (swap.exact === 'in') {
      base = leg.selling ? amount : baseForQuote(amount, tick)
      amount = leg.selling ? quoteForBase(amount, tick) : base
    } else {
      base = leg.selling ? baseToSell(amount, tick) : amount
      amount = leg.selling ? base : quoteToBuy(amount, tick)
    }
    // Strictly less: a fully filled order is removed, so the market could not cancel it later.
    if (base >= order.remaining) return null
    fills.push({ order, base })
  }
  return swap.exact === 'in'
    ? { fills, amountIn: swap.amount, amountOut: amount }
    : { fills, amountIn: amount, amountOut: swap.amount }
}

/** Subtracts the fills from the orders' remaining amounts. */
export function applyFills(fills: readonly Fill[]): void {
  for (const { order, base } of fills) order.remaining -= base
}

/** The best order for a taker who sells (or buys) the stable; undefined if that side is empty. */
export function topOrder(books: Books, stable: string, selling: boolean): RestingOrder | undefined {
  let best: RestingOrder | undefined
  for (const order of books.ladders.get(stable) ?? []) {
    if (order.isBid !== selling) continue
    if (!best || (selling ? order.tick > best.tick : order.tick < best.tick)) best = order
  }
  return best
}
