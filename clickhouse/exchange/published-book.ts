import { PRICE_SCALE, priceOf } from './amounts.js'
import type { Book, Order, Side } from './book.js'

const PRICES_TO_ONE = Number(PRICE_SCALE)

/** A level of a side. `total_raw`: what it and all better levels hold. Amounts in base units of the book's base, as decimal strings. */
type PublishedLevel = { tick: number; price: number; amount_raw: string; total_raw: string; orders: number }

function* ordersOf(side: Side): Generator<Order> {
  for (const { runs } of side.levels) for (const { orders } of runs) yield* orders
}

/**
 * How many makers a side has, the one with the largest amount, and what it is without them; of two that have as much, the better
 * placed.
 */
function makersOf(side: Side, amount: bigint) {
  const amounts = new Map<string, bigint>()
  for (const { maker, base } of ordersOf(side)) amounts.set(maker, (amounts.get(maker) ?? 0n) + base)
  const [largest] = [...amounts].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0))
  if (!largest) return { makers: 0, largest_maker: null }
  const [maker, held] = largest
  const next = [...ordersOf(side)].find((order) => order.maker !== maker)
  return {
    makers: amounts.size,
    largest_maker: {
      maker,
      amount_raw: `${held}`,
      share: Number((held * 1_000_000n) / amount) / 1_000_000,
      without: {
        best_price: next ? Number(priceOf(next.tick)) / PRICES_TO_ONE : null,
        amount_raw: `${amount - held}`,
      },
    },
  }
}

/** The bids or the asks of a book, best first, at most so many levels; with what all of them hold. */
function publishedSide(side: Side, mostLevels: number) {
  const levels: PublishedLevel[] = []
  let [total, orders] = [0n, 0]
  for (const [i, level] of side.levels.entries()) {
    let ofLevel = 0
    for (const run of level.runs) ofLevel += run.orders.size
    total += level.base
    orders += ofLevel
    if (i >= mostLevels) continue
    const { tick, price, base } = level
    levels.push({
      tick,
      price: Number(price) / PRICES_TO_ONE,
      amount_raw: `${base}`,
      total_raw: `${total}`,
      orders: ofLevel,
    })
  }
  return {
    best_price: levels[0]?.price ?? null,
    amount_raw: `${total}`,
    orders,
    level_count: side.levels.length,
    levels,
    ...makersOf(side, total),
  }
}

/**
 * A book as it is published, with at most so many levels a side. Its orders are null where logs contradict each other about it:
 * then nothing of it is certain from `unknown_since` on.
 */
export function publishedBook(book: Book, isRouted: boolean, mostLevels: number) {
  const [bid, ask] = [book.bids.levels[0], book.asks.levels[0]]
  const isUnknown = book.unknownSince !== null
  return {
    quote_token: book.quote,
    is_routed: isRouted,
    unknown_since: book.unknownSince,
    mid_price: bid && ask && !isUnknown ? Number(bid.price + ask.price) / (2 * PRICES_TO_ONE) : null,
    bids: isUnknown ? null : publishedSide(book.bids, mostLevels),
    asks: isUnknown ? null : publishedSide(book.asks, mostLevels),
  }
}
