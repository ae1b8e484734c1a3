import { type AbiEvent, decodeEventLog, toEventSelector } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { baseForQuote, baseToSell, quoteForBase, quoteToBuy } from '../../../local/chain/dex-math.js'
import { encodedLog } from '../logs.js'
import type { BareLog } from './actions.js'

const DEX = Addresses.stablecoinDex.toLowerCase()
const FACTORY = Addresses.tip20Factory.toLowerCase()
const PATH_USD = Addresses.pathUsd.toLowerCase()
/** Whether an address is one of those that the chain keeps for tokens. */
export const isToken = (address: string): boolean => address.startsWith(`0x20c0${'0'.repeat(20)}`)

type Order = {
  maker: string
  base: string
  quote: string
  amount: bigint
  remaining: bigint
  isBid: boolean
  tick: number
  /** Null unless it is a flip order. */
  flipTick: number | null
}

/** The exchange at the end of a block of T12, as its logs tell. */
export type Exchange = {
  /** By id; of those at a tick, the one that is filled first comes first. */
  orders: ReadonlyMap<bigint, Order>
  /** The ids that the local chain, which numbers flipped orders anew, has for orders. */
  renamed: ReadonlyMap<bigint, bigint>
  /** The local chain's ids of orders that flipped there and failed to here. */
  failed: ReadonlySet<bigint>
  /** The quote token of every token that the factory made. */
  quotes: ReadonlyMap<string, string>
}
export const EMPTY_EXCHANGE: Exchange = {
  orders: new Map(),
  renamed: new Map(),
  failed: new Set(),
  quotes: new Map(),
}

type Told =
  | { name: 'OrderPlaced'; args: Placed }
  | {
      name: 'OrderFilled'
      args: { orderId: bigint; maker: string; taker: string; amountFilled: bigint; partialFill: boolean }
    }
  | { name: 'OrderCancelled'; args: { orderId: bigint } }
  | { name: 'TokenCreated'; args: { token: string; quoteToken: string } }
  | { name: 'QuoteTokenUpdate'; args: { newQuoteToken: string } }
type Placed = {
  orderId: bigint
  maker: string
  token: string
  amount: bigint
  isBid: boolean
  tick: number
  isFlipOrder: boolean
  flipTick: number
}

const NAMES = ['OrderPlaced', 'OrderFilled', 'OrderCancelled', 'TokenCreated', 'QuoteTokenUpdate']
const EVENTS = new Map(
  [...Abis.stablecoinDex, ...Abis.tip20, ...Abis.tip20Factory].flatMap(
    (item): Array<[string, AbiEvent]> =>
      item.type === 'event' && NAMES.includes(item.name) ? [[toEventSelector(item as AbiEvent), item as AbiEvent]] : [],
  ),
)

/** What a log of the chain's contracts says of orders and tokens; null for any other. */
function toldBy({ address, topics, data }: BareLog): Told | null {
  const event = EVENTS.get(topics[0] ?? '')
  if (!event || !(address === DEX || address === FACTORY || isToken(address))) return null
  const { args } = decodeEventLog({ abi: [event], topics: topics as never, data: data as never })
  return { name: event.name, args } as unknown as Told
}

const lower = (text: string): string => text.toLowerCase()
const dexLog = (name: string, args: Record<string, unknown>): BareLog => {
  const { address, topics, data } = encodedLog('stablecoinDex', name, DEX, args)
  return { address, topics, data }
}

/** `PolicyForbids()`. */
const REASON = '0x54cfe659'
type Filled = { id: bigint; order: Order }
const flipFailed = ({ id, order }: Filled): BareLog =>
  dexLog('FlipFailed', { orderId: id, maker: order.maker, reason: REASON })

/**
 * Makes the logs of one transaction after the other those of T12: a filled flip order keeps its id, and if it does not flip,
 * a log says so. Orders for which `isFailing` do not flip. Also returns the exchange after them.
 */
export function rewritten(
  before: Exchange,
  transactions: ReadonlyArray<readonly BareLog[]>,
  isFailing: (order: bigint) => boolean,
): { logs: BareLog[][]; exchange: Exchange } {
  const [orders, renamed] = [new Map(before.orders), new Map(before.renamed)]
  const [failed, quotes] = [new Set(before.failed), new Map(before.quotes)]
  /** The flip order that the log before has filled. */
  let filled: Filled | null = null

  const place = (
    log: BareLog,
    { orderId, isFlipOrder, flipTick, ...terms }: Placed,
    flip: Filled | null,
  ): BareLog[] => {
    const { maker, token, amount, isBid, tick } = terms
    const base = lower(token)
    const quote = quotes.get(base) ?? PATH_USD
    const order = {
      maker,
      base,
      quote,
      amount,
      remaining: amount,
      isBid,
      tick,
      flipTick: isFlipOrder ? flipTick : null,
    }
    const isFlipped = flip?.order.maker === maker && flip.order.base === base && flip.order.flipTick === tick
    if (!flip || !isFlipped) {
      renamed.delete(orderId)
      orders.set(orderId, order)
      return flip ? [flipFailed(flip), log] : [log]
    }
    if (isFailing(flip.id)) {
      failed.add(orderId)
      return [flipFailed(flip)]
    }
    renamed.set(orderId, flip.id)
    orders.set(flip.id, order)
    return [dexLog('OrderFlipped', { orderId: flip.id, flipTick, ...terms })]
  }

  const change = (log: BareLog, told: Told & { name: 'OrderFilled' | 'OrderCancelled' }): BareLog[] => {
    const local = told.args.orderId
    const isFill = told.name === 'OrderFilled'
    if (failed.has(local)) {
      if (isFill) throw new Error(`order ${local}, which failed to flip, was filled`)
      return []
    }
    const id = renamed.get(local) ?? local
    const order = orders.get(id)
    if (!order) throw new Error(`order ${local} was never placed`)
    if (isFill && told.args.partialFill) {
      orders.set(id, { ...order, remaining: order.remaining - told.args.amountFilled })
    } else {
      orders.delete(id)
      if (isFill && order.flipTick !== null) filled = { id, order }
    }
    return [id === local ? log : dexLog(told.name, { ...told.args, orderId: id })]
  }

  const rewrite = (log: BareLog): BareLog[] => {
    const told = toldBy(log)
    const flip = filled
    filled = null
    if (told?.name === 'OrderPlaced') return place(log, told.args, flip)
    if (told?.name === 'TokenCreated') quotes.set(lower(told.args.token), lower(told.args.quoteToken))
    if (told?.name === 'QuoteTokenUpdate') quotes.set(log.address, lower(told.args.newQuoteToken))
    const isChange = told?.name === 'OrderFilled' || told?.name === 'OrderCancelled'
    return [...(flip ? [flipFailed(flip)] : []), ...(isChange ? change(log, told) : [log])]
  }
  const logs = transactions.map((transaction) => transaction.flatMap(rewrite))
  return { logs, exchange: { orders, renamed, failed, quotes } }
}

type Leg = { base: string; quote: string; isSold: boolean }

/** The books that a quote passes through: both tokens climb their quote tokens to the first that they share. */
function routeOf({ quotes }: Exchange, from: string, to: string): Leg[] | null {
  const climb = (token: string): string[] =>
    token === PATH_USD ? [token] : [token, ...climb(quotes.get(token) ?? PATH_USD)]
  const [up, down] = [climb(from), climb(to)]
  const shared = up.find((token) => down.includes(token))
  if (shared === undefined || from === to) return null
  const legsOf = (path: string[], isSold: boolean): Leg[] =>
    path.slice(0, path.indexOf(shared)).map((base, i) => ({ base, quote: path[i + 1] as string, isSold }))
  return [...legsOf(up, true), ...legsOf(down, false).reverse()]
}

/** The orders of one side of a book, in the order in which they are filled. */
export const sideOf = ({ orders }: Exchange, base: string, quote: string, isBid: boolean): Order[] =>
  [...orders.values()]
    .filter((order) => order.base === base && order.quote === quote && order.isBid === isBid)
    .sort((a, b) => (isBid ? b.tick - a.tick : a.tick - b.tick))

/** One leg for an amount of what the swap fixes: the amount of the other, or null if the orders do not suffice. */
function legAmount(
  exchange: Exchange,
  { base, quote, isSold }: Leg,
  exact: 'in' | 'out',
  amount: bigint,
): bigint | null {
  const fixesBase = (exact === 'in') === isSold
  let [left, other] = [amount, 0n]
  for (const { tick, remaining } of sideOf(exchange, base, quote, isSold)) {
    const wanted = fixesBase ? left : isSold ? baseToSell(left, tick) : baseForQuote(left, tick)
    const isLast = wanted <= remaining
    const taken = isLast ? wanted : remaining
    const paid = isSold ? quoteForBase(taken, tick) : quoteToBuy(taken, tick)
    other += fixesBase ? paid : taken
    if (isLast) return other
    left -= fixesBase ? taken : paid
  }
  return null
}

/** What the exchange quotes by T12's rule: order by order, each rounded by itself. Null if it cannot fill the amount. */
export function quoteOf(
  exchange: Exchange,
  from: string,
  to: string,
  exact: 'in' | 'out',
  amount: bigint,
): bigint | null {
  const route = routeOf(exchange, from, to)
  if (!route) return null
  const legs = exact === 'in' ? route : route.toReversed()
  return legs.reduce<bigint | null>(
    (left, leg) => (left === null ? null : legAmount(exchange, leg, exact, left)),
    amount,
  )
}
