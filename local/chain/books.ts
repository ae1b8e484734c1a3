import { route, type Swap } from './actions.js'
import { baseForQuote, baseToSell, quoteForBase, quoteToBuy } from './dex-math.js'
import type { RestingOrder } from './ladder.js'
import type { MarketPlan } from './plan.js'

/** The market's own view of every order on the DEX, kept without asking the node. */
export type Books = {
  nextOrderId: bigint
  /** The market maker's orders by stable. */
  ladders: Map<string, RestingOrder[]>
  /** Orders of the other maker that flipped, and are cancelled in the block after. */
  flipped: { id: bigint; stable: string }[]
}

/** What a swap takes from one order. `base` is micro-units. */
export type Fill = { order: RestingOrder; base: bigint }
export type SwapOutcome = { fills: Fill[]; amountIn: bigint; amountOut: bigint }

export const emptyBooks = (): Books => ({ nextOrderId: 1n, ladders: new Map(), flipped: [] })

/**
 * What the DEX will do with a swap, to the unit; null when the top of a book on its way is too small for it, since the
 * market never lets a swap run through a level and move a planned price.
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
    // Strictly less: an order that is filled to the end is gone, and could not be cancelled any more.
    if (base >= order.remaining) return null
    fills.push({ order, base })
  }
  return swap.exact === 'in'
    ? { fills, amountIn: swap.amount, amountOut: amount }
    : { fills, amountIn: amount, amountOut: swap.amount }
}

/** Takes the fills from the orders. */
export function applyFills(fills: readonly Fill[]): void {
  for (const { order, base } of fills) order.remaining -= base
}

/** The order that a taker who sells (or buys) the stable meets first. */
export function topOrder(books: Books, stable: string, selling: boolean): RestingOrder | undefined {
  let best: RestingOrder | undefined
  for (const order of books.ladders.get(stable) ?? []) {
    if (order.isBid !== selling) continue
    if (!best || (selling ? order.tick > best.tick : order.tick < best.tick)) best = order
  }
  return best
}
