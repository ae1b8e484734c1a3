import { givenByAsk, MOST_AMOUNT, takenByBid } from './amounts.js'
import type { Level, Order, Side } from './book.js'
import type { OrderBooks } from './books.js'
import { type Route, type RouteRefusal, routeOf } from './routes.js'
import type { Rules } from './rules.js'

/**
 * Why the exchange does not quote: as a route's, or `no_liquidity`: the orders of a book on the way do not suffice;
 * `overflow`: an amount on the way has more than 128 bits. `unknown`: also if a book on the way is.
 */
type Refusal = RouteRefusal | 'no_liquidity' | 'overflow'

/** What the exchange quotes: base units of the token whose amount was not given, or why it refuses. */
export type Quote = { status: 'quoted'; amount: bigint } | { status: Refusal; amount: null }

/** `exact` in: what `amount` base units of `from` buy. Out: what `amount` base units of `to` cost. */
export type Question = { from: string; to: string; exact: 'in' | 'out'; amount: bigint }

/**
 * What `quoteSwapExactAmountIn` or `quoteSwapExactAmountOut` of the exchange returns at the end of the last block that was
 * applied, to the base unit. Throws if the amount does not fit 128 bits.
 */
export const quote = (books: OrderBooks, { from, to, exact, amount }: Question, rules: Rules): Quote =>
  quoteAlong(routeOf(books, from, to, rules), exact, amount, rules)

/**
 * The quote of an amount along its route. Each hop's result is the amount of the next; exact out, from the last hop to the
 * first.
 */
export function quoteAlong({ hops, refusal }: Route, exact: 'in' | 'out', amount: bigint, rules: Rules): Quote {
  if (amount < 0n || amount > MOST_AMOUNT) throw new RangeError(`${amount} is not an amount of 128 bits`)
  if (hops === null) return { status: refusal, amount: null }
  if (hops.some(({ book }) => book.unknownSince !== null)) return { status: 'unknown', amount: null }
  let left = amount
  for (const { book, sellsBase } of exact === 'in' ? hops : hops.toReversed()) {
    const side = book.sideOf(sellsBase)
    const walk = rules.roundsByOrder ? byOrders : byLevels
    const other = (exact === 'in') === sellsBase ? walk.fromBase(side, left) : walk.fromQuote(side, left)
    if (typeof other === 'string') return { status: other, amount: null }
    if (other > MOST_AMOUNT) return { status: 'overflow', amount: null }
    left = other
  }
  return { status: 'quoted', amount: left }
}

/** The amount of one token that is exchanged for an amount of the other on a side of a book. */
type Walk = {
  /** The quote that is paid for `base`, which is sold to bids or bought from asks. */
  fromBase: (side: Side, base: bigint) => bigint | 'no_liquidity' | 'overflow'
  /** The base that is sold to bids so that they pay `quote`, or bought from asks for it. */
  fromQuote: (side: Side, quote: bigint) => bigint | 'no_liquidity' | 'overflow'
}

/** The base that `quote` is exchanged for at a price, if orders suffice. The exchange refuses one of more than 128 bits. */
const baseFor = ({ isBid }: Side, quote: bigint, price: bigint): bigint =>
  isBid ? takenByBid(quote, price) : givenByAsk(quote, price)

/** Until T12: each level counts as one order of what its orders hold together. */
const byLevels: Walk = {
  fromBase: (side, base) => {
    let [left, quote] = [base, 0n]
    for (const level of side.levels) {
      if (left <= level.base) return quote + side.quoteOf(left, level.price)
      left -= level.base
      quote += side.quoteOf(level.base, level.price)
      if (quote > MOST_AMOUNT) return 'overflow'
    }
    return 'no_liquidity'
  },
  fromQuote: (side, quote) => {
    let [left, base] = [quote, 0n]
    for (const level of side.levels) {
      const wanted = baseFor(side, left, level.price)
      if (wanted > MOST_AMOUNT) return 'overflow'
      if (side.isBid ? wanted <= level.base : wanted < level.base) return base + wanted
      // Of asks that sell all they have, what is too little for another unit remains, and the next level must take it.
      left -= side.quoteOf(level.base, level.price)
      base += level.base
      if (base > MOST_AMOUNT) return 'overflow'
      if (left === 0n) return base
    }
    return 'no_liquidity'
  },
}

/** Since T12: as a swap fills them, one order after the other. */
const byOrders: Walk = {
  fromBase: (side, base) => {
    let [left, quote] = [base, 0n]
    for (const level of side.levels) {
      const order = firstNotPassed(level, (piece) => {
        if (left <= piece.base) return false
        left -= piece.base
        quote += piece.quote
        return true
      })
      if (quote > MOST_AMOUNT) return 'overflow'
      if (order) return quote + side.quoteOf(left, level.price)
    }
    return 'no_liquidity'
  },
  fromQuote: (side, quote) => {
    let [left, base] = [quote, 0n]
    for (const level of side.levels) {
      if (baseFor(side, left, level.price) > MOST_AMOUNT) return 'overflow'
      const order = firstNotPassed(level, (piece, isOne) => {
        // A bid is passed if it pays less than is left; an ask, if what is left buys at least a unit more than it has. A
        // unit costs 2 at most, so several asks are passed at least if 2 more is left than they charge.
        const isPassed = side.isBid
          ? left > piece.quote
          : isOne
            ? givenByAsk(left, level.price) > piece.base
            : left >= piece.quote + 2n
        if (!isPassed) return false
        left -= piece.quote
        base += piece.base
        // The last unit that is bought may be cheap enough for nothing to be left.
        return left > 0n
      })
      if (base > MOST_AMOUNT) return 'overflow'
      if (order) return base + baseFor(side, left, level.price)
    }
    return 'no_liquidity'
  },
}

/**
 * The first order of a level at which a walk ends; undefined if it passes over all of them. `passes` returns whether it
 * passes over a level, a run of it or an order, and if so takes it into account.
 */
function firstNotPassed(
  level: Level,
  passes: (piece: { base: bigint; quote: bigint }, isOne: boolean) => boolean,
): Order | undefined {
  if (passes(level, false)) return undefined
  for (const run of level.runs) {
    if (passes(run, false)) continue
    for (const order of run.orders) if (!passes(order, true)) return order
  }
  return undefined
}
