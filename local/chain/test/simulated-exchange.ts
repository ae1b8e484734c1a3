import {
  type Address,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  getAbiItem,
  type Hex,
  type RpcLog,
} from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { route } from '../actions.js'
import type { Call } from '../calls.js'
import { baseForQuote, baseToSell, quoteForBase, quoteToBuy } from '../dex-math.js'
import type { RestingOrder } from '../ladder.js'
import type { MarketPlan } from '../plan.js'
import { PATH_USD } from '../stables.js'

const abi = Abis.stablecoinDex
type Order = RestingOrder & { maker: Address; symbol: string; flipTick: number | null }
export type SimulatedExchange = {
  /** Executes one transaction and returns its logs; null if it reverts, which changes nothing. */
  execute: (from: Address, calls: readonly Call[]) => RpcLog[] | null
  /** The resting orders of a maker on a stable's book, oldest first. */
  ordersOf: (maker: Address, symbol: string) => RestingOrder[]
}

/** The DEX up to hardfork T4 without balances: it numbers orders, fills the best first, and emits the same logs. */
export function simulatedExchange(plan: MarketPlan): SimulatedExchange {
  let state = { next: 1n, orders: [] as Order[] }
  const symbolOf = (address: Address): string =>
    address.toLowerCase() === PATH_USD.address
      ? PATH_USD.symbol
      : (plan.tokens.find((t) => t.address === address.toLowerCase())?.symbol ?? '')

  const place = (order: Omit<Order, 'id' | 'remaining'>, token: Address): RpcLog => {
    const id = state.next++
    state.orders.push({ ...order, id, remaining: order.amount })
    const { maker, amount, isBid, tick, flipTick } = order
    return logOf('OrderPlaced', { orderId: id, maker, token }, [
      ...[amount, isBid, tick],
      ...[flipTick !== null, flipTick ?? 0],
    ])
  }
  const fill = (order: Order, base: bigint, taker: Address): RpcLog[] => {
    order.remaining -= base
    const { id, maker, remaining, flipTick } = order
    const filled = logOf('OrderFilled', { orderId: id, maker, taker }, [base, remaining > 0n])
    if (remaining > 0n) return [filled]
    state.orders = state.orders.filter((o) => o !== order)
    if (flipTick === null) return [filled]
    const flipped = { ...order, isBid: !order.isBid, tick: flipTick, flipTick: order.tick }
    return [filled, place(flipped, plan.token(order.symbol).address)]
  }
  /** Fills one leg for `amount` of what the swap fixes; returns the amount on the other side. */
  const leg = (symbol: string, selling: boolean, exact: 'in' | 'out', amount: bigint, taker: Address, to: RpcLog[]) => {
    const fixesBase = (exact === 'in') === selling
    const away = (o: Order): number => (selling ? -o.tick : o.tick)
    let [left, other] = [amount, 0n]
    for (const order of state.orders.toSorted((a, b) => away(a) - away(b))) {
      if (left === 0n || order.symbol !== symbol || order.isBid !== selling) continue
      const wanted = fixesBase ? left : selling ? baseToSell(left, order.tick) : baseForQuote(left, order.tick)
      const isLast = wanted <= order.remaining
      const base = isLast ? wanted : order.remaining
      const quote = selling ? quoteForBase(base, order.tick) : quoteToBuy(base, order.tick)
      other += fixesBase ? quote : base
      left = isLast ? 0n : left - (fixesBase ? base : quote)
      to.push(...fill(order, base, taker))
    }
    if (left > 0n) throw new Error('InsufficientLiquidity')
    return other
  }
  const swap = (taker: Address, tokenIn: Address, tokenOut: Address, exact: 'in' | 'out', amount: bigint): RpcLog[] => {
    const { sells, buys } = route(plan, { tokenIn: symbolOf(tokenIn), tokenOut: symbolOf(tokenOut) })
    const legs = [...sells.map((s) => [s, true] as const), ...buys.map((s) => [s, false] as const)]
    const logs: RpcLog[] = []
    let at = amount
    for (const [symbol, selling] of exact === 'in' ? legs : legs.toReversed())
      at = leg(symbol, selling, exact, at, taker, logs)
    return logs
  }
  const run = (from: Address, { to, data }: Call): RpcLog[] => {
    if (to !== Addresses.stablecoinDex) return []
    const { functionName, args } = decodeFunctionData({ abi, data })
    if (functionName === 'place' || functionName === 'placeFlip') {
      const [token, amount, isBid, tick, flipTick] = args
      return [place({ maker: from, symbol: symbolOf(token), amount, isBid, tick, flipTick: flipTick ?? null }, token)]
    }
    if (functionName === 'cancel') {
      const found = state.orders.find((o) => o.id === args[0] && o.maker === from)
      if (!found) throw new Error('OrderDoesNotExist')
      state.orders = state.orders.filter((o) => o !== found)
      return [logOf('OrderCancelled', { orderId: found.id }, [])]
    }
    if (functionName === 'swapExactAmountIn') return swap(from, args[0], args[1], 'in', args[2])
    if (functionName === 'swapExactAmountOut') return swap(from, args[0], args[1], 'out', args[2])
    throw new Error(`${functionName} is not simulated`)
  }

  return {
    execute: (from, calls) => {
      const before = { next: state.next, orders: state.orders.map((o) => ({ ...o })) }
      try {
        return calls.flatMap((call) => run(from, call))
      } catch {
        state = before
        return null
      }
    },
    ordersOf: (maker, symbol) =>
      state.orders
        .filter((o) => o.maker === maker && o.symbol === symbol)
        .map(({ id, isBid, tick, amount, remaining }) => ({ id, isBid, tick, amount, remaining })),
  }
}

/** A log of the DEX; `values` are those of its parameters that are not indexed. */
function logOf(
  eventName: 'OrderPlaced' | 'OrderFilled' | 'OrderCancelled',
  indexed: object,
  values: unknown[],
): RpcLog {
  const { inputs } = getAbiItem({ abi, name: eventName }) as { inputs: readonly { type: string; indexed?: boolean }[] }
  const data = encodeAbiParameters(
    inputs.filter((i) => !i.indexed),
    values as never,
  )
  const topics = encodeEventTopics({ abi, eventName, args: indexed } as never) as [Hex, ...Hex[]]
  return { address: Addresses.stablecoinDex, topics, data } as unknown as RpcLog
}
