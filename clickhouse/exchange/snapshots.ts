import type { Side } from './book.js'
import { type Contradiction, OrderBooks } from './books.js'

/** An order: its id, its maker, what remains of it, and of a flip order its amount and the tick that it flips to. */
type OrderSnapshot =
  | [id: string, maker: string, remaining: string]
  | [id: string, maker: string, remaining: string, amount: string, flipTick: number]

/** The levels of a side, best first; their orders, first to be filled first. */
type SideSnapshot = Array<[tick: number, orders: OrderSnapshot[]]>

/**
 * The order books at the end of a block as JSON. Replay from here gives the same books as replay from the first block.
 * Equal books have equal snapshots, to the byte: tokens and books are in order of address.
 */
export type BooksSnapshot = {
  block: number | null
  last_order_id: string
  tokens: Array<{ token: string; quote_token: string | null; is_paused: boolean; unknown_since: number | null }>
  books: Array<{ base: string; quote: string; unknown_since: number | null; bids: SideSnapshot; asks: SideSnapshot }>
  contradictions: Array<[Contradiction, number]>
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A snapshot of the books. */
export const snapshotOf = (books: OrderBooks): BooksSnapshot => ({
  block: books.block,
  last_order_id: `${books.lastOrderId}`,
  tokens: [...books.tokens]
    .map(([token, { quoteToken, isPaused, unknownSince }]) => ({
      ...{ token, quote_token: quoteToken, is_paused: isPaused, unknown_since: unknownSince },
    }))
    .sort((a, b) => compare(a.token, b.token)),
  books: [...books.books()]
    .map(({ base, quote, unknownSince, bids, asks }) => ({
      ...{ base, quote, unknown_since: unknownSince, bids: sideSnapshot(bids), asks: sideSnapshot(asks) },
    }))
    .sort((a, b) => compare(a.base, b.base) || compare(a.quote, b.quote)),
  contradictions: [...books.contradictions].sort(([a], [b]) => compare(a, b)),
})

const sideSnapshot = (side: Side): SideSnapshot =>
  side.levels.map(({ tick, runs }) => [
    tick,
    [...runs].flatMap(({ orders }) =>
      [...orders].map(
        ({ id, maker, base, flip }): OrderSnapshot =>
          flip ? [`${id}`, maker, `${base}`, `${flip.amount}`, flip.tick] : [`${id}`, maker, `${base}`],
      ),
    ),
  ])

/** The books of a snapshot. */
export function booksOf(snapshot: BooksSnapshot): OrderBooks {
  const books = new OrderBooks()
  books.block = snapshot.block
  books.lastOrderId = BigInt(snapshot.last_order_id)
  for (const { token, quote_token: quoteToken, is_paused: isPaused, unknown_since: unknownSince } of snapshot.tokens)
    books.addToken(token, { quoteToken, isPaused, unknownSince })
  for (const [contradiction, count] of snapshot.contradictions) books.contradictions.set(contradiction, count)
  for (const { base, quote, unknown_since, bids, asks } of snapshot.books) {
    const book = books.openBook(base, quote)
    book.unknownSince = unknown_since
    for (const [isBid, levels] of [
      [true, bids],
      [false, asks],
    ] as const)
      for (const [tick, orders] of levels)
        for (const [id, maker, remaining, amount, flipTick] of orders) {
          const flip = amount === undefined ? null : { amount: BigInt(amount), tick: flipTick as number }
          books.addOrder({
            id: BigInt(id),
            maker,
            book,
            isBid,
            tick,
            base: BigInt(remaining),
            quote: 0n,
            flip,
            run: undefined,
          })
        }
  }
  return books
}
