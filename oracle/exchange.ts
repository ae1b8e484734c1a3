// What the exchange quotes, computed again: lists of orders in the order of their queues, and the steps of the exchange's
// own functions one after the other, without anything kept between two quotes.

type Args = {
  orderId: bigint
  token: string
  quoteToken: string
  newQuoteToken: string
  isPaused: boolean
  base: string
  quote: string
  amount: bigint
  amountFilled: bigint
  partialFill: boolean
  isBid: boolean
  tick: number
  isFlipOrder: boolean
  flipTick: number
}
export type Log = { name: string; address: string; args: object }

type Order = Pick<Args, 'base' | 'quote' | 'amount' | 'isBid' | 'tick' | 'flipTick'> & {
  id: bigint
  remaining: bigint
  isFlip: boolean
  /** A filled flip order, of which the next log of the order says what became of it. */
  isFilled: boolean
}

export type Exchange = {
  /** By token. */
  quoteTokens: Map<string, string>
  paused: Set<string>
  /** Base and quote token, with a space between. */
  pairs: Set<string>
  /** By id; of two at the same tick, the one that was placed first comes first. */
  orders: Map<bigint, Order>
}

/** The exchange before the first log. */
export const emptyExchange = (): Exchange => ({
  ...{ quoteTokens: new Map(), paused: new Set(), pairs: new Set(), orders: new Map() },
})

/** The rules that a test may break to see that it would notice. */
export const RULES = {
  /** How the quote of a bid and of an ask is rounded. */
  bid: (dividend: bigint, divisor: bigint): bigint => dividend / divisor,
  ask: (dividend: bigint, divisor: bigint): bigint => -(-dividend / divisor) + (dividend % divisor > 0n ? 1n : 0n),
  /** The base that pays for a quote: of an ask, and of a bid. */
  bought: (dividend: bigint, divisor: bigint): bigint => dividend / divisor,
  needed: (dividend: bigint, divisor: bigint): bigint => -(-dividend / divisor) + (dividend % divisor > 0n ? 1n : 0n),
  queue: (orders: readonly Order[]): readonly Order[] => orders,
  flips: true,
}
export type Rules = typeof RULES

/** Changes the exchange as a log says. */
export function apply(exchange: Exchange, { name, address, args }: Log, rules: Rules = RULES): void {
  const log = args as Args
  const { quoteTokens, paused, pairs, orders } = exchange
  const order = orders.get(log.orderId)
  switch (name) {
    case 'TokenCreated':
      quoteTokens.set(log.token, log.quoteToken)
      break
    case 'QuoteTokenUpdate':
      quoteTokens.set(address, log.newQuoteToken)
      break
    case 'PauseStateUpdate':
      if (log.isPaused) paused.add(address)
      else paused.delete(address)
      break
    case 'PairCreated':
      pairs.add(`${log.base} ${log.quote}`)
      break
    case 'OrderPlaced': {
      const { orderId: id, token: base, amount, isBid, tick, flipTick, isFlipOrder: isFlip } = log
      const quote = quoteTokens.get(base) as string
      orders.set(id, { id, base, quote, amount, remaining: amount, isBid, tick, flipTick, isFlip, isFilled: false })
      break
    }
    case 'OrderFilled':
      if (order && log.partialFill) order.remaining -= log.amountFilled
      else if (order?.isFlip) Object.assign(order, { remaining: 0n, isFilled: true })
      else orders.delete(log.orderId)
      break
    case 'OrderFlipped':
      // At the end of its new queue.
      orders.delete(log.orderId)
      if (order && rules.flips) {
        const { amount, isBid, tick, flipTick } = order
        const flipped = { remaining: amount, isBid: !isBid, tick: flipTick, flipTick: tick, isFilled: false }
        orders.set(order.id, { ...order, ...flipped })
      }
      break
    case 'FlipFailed':
    case 'OrderCancelled':
      orders.delete(log.orderId)
  }
}

export type Question = { from: string; to: string; exact: 'in' | 'out'; amount: bigint }
/** Which of the exchange's forks are active. */
export type Forks = { T3: boolean; T12: boolean }

const MOST = (1n << 128n) - 1n
class Refused extends Error {}
const fits = (amount: bigint): bigint => {
  if (amount > MOST) throw new Refused('overflow')
  return amount
}

type Amounts = { remaining: bigint; tick: number }
type Side = { isBid: boolean; orders: readonly Amounts[] }

/** One book for an amount: see `quote_exact_in_per_tick`, `quote_exact_out_per_tick` and `walk_resting_orders` of the chain. */
function through({ isBid, orders }: Side, exact: 'in' | 'out', amount: bigint, byOrder: boolean, rules: Rules): bigint {
  const toQuote = (base: bigint, tick: number, round: Rules['bid']): bigint =>
    fits(round(base * BigInt(100_000 + tick), 100_000n))
  const toBase = (quote: bigint, tick: number, round: Rules['bid']): bigint =>
    fits(round(quote * 100_000n, BigInt(100_000 + tick)))
  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
  if (orders.length === 0) throw new Refused('no_liquidity')
  let [left, sum] = [amount, 0n]
  for (const [i, { remaining, tick }] of orders.entries()) {
    if (left === 0n) break
    let [filled, got, spent]: bigint[] = []
    if (exact === 'in' && isBid) {
      filled = least(left, remaining)
      ;[got, spent] = [toQuote(filled, tick, rules.bid), filled]
    } else if (exact === 'in') {
      const base = toBase(left, tick, rules.bought)
      filled = least(base, remaining)
      // A swap ends with an order that it has just enough for, and keeps the dust.
      ;[got, spent] = [filled, byOrder && base <= remaining ? left : toQuote(filled, tick, rules.ask)]
    } else if (isBid) {
      filled = least(toBase(left, tick, rules.needed), remaining)
      ;[got, spent] = [filled, least(toQuote(filled, tick, rules.bid), left)]
    } else {
      filled = least(left, remaining)
      ;[got, spent] = [toQuote(filled, tick, rules.ask), filled]
    }
    left -= spent as bigint
    sum = fits(sum + (got as bigint))
    if (filled < remaining) break
    if (i === orders.length - 1 && left > 0n) throw new Refused('no_liquidity')
  }
  return sum
}

/** One side of a book as the exchange walks it: orders, or until T12 one sum for each tick. */
function sideOf({ orders }: Exchange, base: string, quote: string, isBid: boolean, forks: Forks, rules: Rules): Side {
  const standing = [...orders.values()].filter(
    (order) => order.base === base && order.quote === quote && order.isBid === isBid && !order.isFilled,
  )
  const ticks = [...new Set(standing.map(({ tick }) => tick))].sort((a, b) => (isBid ? b - a : a - b))
  const levels = ticks.map((tick) => rules.queue(standing.filter((order) => order.tick === tick)))
  if (forks.T12) return { isBid, orders: levels.flat() }
  const sums = levels.map((level, i) => ({
    tick: ticks[i] as number,
    remaining: level.reduce((sum, { remaining }) => sum + remaining, 0n),
  }))
  return { isBid, orders: sums }
}

const PATH_USD = `0x20c0${'0'.repeat(36)}`

/** The tokens from one to another. */
function pathOf(exchange: Exchange, from: string, to: string): string[] {
  if (from === to) throw new Refused('same_token')
  if (exchange.quoteTokens.get(from) === to || exchange.quoteTokens.get(to) === from) return [from, to]
  const climb = (token: string | undefined): string[] => {
    if (token === undefined) throw new Refused('no_token')
    return token === PATH_USD ? [token] : [token, ...climb(exchange.quoteTokens.get(token))]
  }
  const [up, down] = [climb(from), climb(to)]
  // Both end in the same tokens: all but the first of these are of no use.
  while (up.length > 1 && down.length > 1 && up.at(-2) === down.at(-2)) {
    up.pop()
    down.pop()
  }
  return [...up, ...down.reverse().slice(1)]
}

/** What the exchange quotes for an amount, or why it refuses. */
export function quote(
  exchange: Exchange,
  { from, to, exact, amount }: Question,
  forks: Forks,
  rules: Rules = RULES,
): bigint | string {
  try {
    const path = pathOf(exchange, from, to)
    const sides = path.slice(1).map((bought, i): Side => {
      const sold = path[i] as string
      if (forks.T3 && exchange.paused.has(sold)) throw new Refused('paused')
      const isBid = exchange.quoteTokens.get(sold) === bought
      const [base, other] = isBid ? [sold, bought] : [bought, sold]
      if (!exchange.pairs.has(`${base} ${other}`)) throw new Refused('no_pair')
      return sideOf(exchange, base, other, isBid, forks, rules)
    })
    const walked = exact === 'in' ? sides : sides.reverse()
    return walked.reduce((left, side) => through(side, exact, left, forks.T12, rules), amount)
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}
