import { type Address, parseEventLogs, type RpcLog } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { accounts } from './accounts.js'
import { route, type Swap } from './actions.js'
import { baseForQuote, baseToSell, quoteForBase, quoteToBuy } from './dex-math.js'
import type { BookOrder, RestingOrder } from './ladder.js'
import type { MarketPlan } from './plan.js'

/** The market's own orders on the DEX, as its events describe them. Orders of others are not in it. */
export type Books = {
  /** The market maker's orders by stable, oldest first. */
  ladders: Map<string, RestingOrder[]>
  /** Ids of the flip maker's orders, which are cancelled in the next block. */
  flips: bigint[]
}

/** The market maker's orders by stable, including those that have no id before their block is mined. */
export type Ladders = ReadonlyMap<string, readonly BookOrder[]>

/** The part of a swap that one order fills. `base` is micro-units. */
type Fill = { order: BookOrder; base: bigint }
type SwapOutcome = { fills: Fill[]; amountIn: bigint; amountOut: bigint }

export const emptyBooks = (): Books => ({ ladders: new Map(), flips: [] })

/**
 * Updates the books to the end of a block from all logs of that block, in order. Logs of contracts other than the DEX
 * are ignored, as are the orders of others: any number of them may be between two of the market's.
 */
export function applyLogs(plan: MarketPlan, books: Books, logs: readonly RpcLog[]): void {
  const onDex = logs.filter((log) => log.address.toLowerCase() === Addresses.stablecoinDex)
  for (const { eventName, args } of parseEventLogs({ abi: Abis.stablecoinDex, logs: onDex })) {
    if (eventName === 'OrderPlaced') addOrder(plan, books, args)
    else if (eventName === 'OrderCancelled') removeOrder(books, args.orderId)
    else if (eventName === 'OrderFilled' && !args.partialFill) removeOrder(books, args.orderId)
    else if (eventName === 'OrderFilled') {
      const order = [...books.ladders.values()].flat().find(({ id }) => id === args.orderId)
      if (order) order.remaining -= args.amountFilled
    }
  }
}

type Placed = { orderId: bigint; maker: Address; token: Address; amount: bigint; isBid: boolean; tick: number }

function addOrder(plan: MarketPlan, books: Books, { orderId: id, maker, token, amount, isBid, tick }: Placed): void {
  if (isSame(maker, accounts.flipMaker.address)) books.flips.push(id)
  if (!isSame(maker, accounts.maker.address)) return
  const symbol = plan.tokens.find(({ address }) => isSame(address, token))?.symbol
  if (!symbol) return
  const order = { id, isBid, tick, amount, remaining: amount }
  books.ladders.set(symbol, [...(books.ladders.get(symbol) ?? []), order])
}

function removeOrder(books: Books, gone: bigint): void {
  books.flips = books.flips.filter((id) => id !== gone)
  for (const [symbol, orders] of books.ladders) {
    if (!orders.some(({ id }) => id === gone)) continue
    books.ladders.set(
      symbol,
      orders.filter(({ id }) => id !== gone),
    )
  }
}

const isSame = (a: Address, b: Address): boolean => a.toLowerCase() === b.toLowerCase()

/**
 * The exact outcome of a swap on the DEX if only the market trades there, or null when the best order of a book on its
 * route is too small: the market never lets a swap exhaust a price level, which would move a planned price.
 */
export function outcomeOf(plan: MarketPlan, ladders: Ladders, swap: Swap): SwapOutcome | null {
  const { sells, buys } = route(plan, swap)
  const legs = [
    ...sells.map((stable) => ({ stable, selling: true })),
    ...buys.map((stable) => ({ stable, selling: false })),
  ]
  const fills: Fill[] = []
  let amount = swap.amount
  for (const leg of swap.exact === 'in' ? legs : legs.toReversed()) {
    const order = topOrder(ladders, leg.stable, leg.selling)
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

/** The market maker's best order for a taker who sells (or buys) the stable; undefined if that side is empty. */
export function topOrder(ladders: Ladders, stable: string, selling: boolean): BookOrder | undefined {
  let best: BookOrder | undefined
  for (const order of ladders.get(stable) ?? []) {
    if (order.isBid !== selling) continue
    if (!best || (selling ? order.tick > best.tick : order.tick < best.tick)) best = order
  }
  return best
}
