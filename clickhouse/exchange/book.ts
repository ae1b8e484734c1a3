import { chargedByAsk, paidByBid, priceOf } from './amounts.js'

/** What some orders of one price hold: the base that they buy or sell, and the quote that they pay or charge for it. */
type Piece = {
  base: bigint
  /** The sum over its orders, each rounded by itself. */
  quote: bigint
}

/** An order that rests in a book, with what remains of it. */
export type Order = Piece & {
  readonly id: bigint
  readonly maker: string
  readonly book: Book
  readonly isBid: boolean
  readonly tick: number
  /** What a flip order returns to the book with once it is filled, and at which tick of the other side; else null. */
  readonly flip: { readonly amount: bigint; readonly tick: number } | null
  /** Where it stands; undefined once it has left the book. */
  run: Run | undefined
}

/** Consecutive orders of a level. A walk passes over a whole run at once, so one over 100 000 orders takes 700 steps. */
type Run = Piece & { readonly level: Level; readonly orders: Set<Order>; placed: number }
const RUN_LENGTH = 256

/** The orders of a side at one tick, in runs; the order that is filled first comes first. */
export type Level = Piece & {
  readonly tick: number
  readonly price: bigint
  readonly runs: Set<Run>
  last?: Run | undefined
}

const grow = (piece: Piece, base: bigint, quote: bigint): void => {
  piece.base += base
  piece.quote += quote
}

/** The bids or the asks of a book. */
export class Side {
  readonly isBid: boolean
  /** Those with orders, best price first. */
  readonly levels: Level[] = []

  constructor(isBid: boolean) {
    this.isBid = isBid
  }

  /** The quote that an order of this side pays or charges for `base` at a price. */
  quoteOf(base: bigint, price: bigint): bigint {
    return this.isBid ? paidByBid(base, price) : chargedByAsk(base, price)
  }

  /** Puts an order at the end of its tick's queue. */
  add(order: Order): void {
    const level = this.#levelAt(order.tick)
    if (!level.last || level.last.placed === RUN_LENGTH) level.last = newRun(level)
    const run = level.last
    run.orders.add(order)
    run.placed++
    order.run = run
    order.quote = this.quoteOf(order.base, level.price)
    for (const piece of [run, level]) grow(piece, order.base, order.quote)
  }

  /** Takes `base`, which is not more than remains, from an order. It keeps its place. */
  fill(order: Order, base: bigint): void {
    const run = order.run as Run
    const remaining = order.base - base
    const quote = order.quote - this.quoteOf(remaining, run.level.price)
    for (const piece of [order, run, run.level]) grow(piece, -base, -quote)
  }

  /** Takes an order out of its queue. */
  remove(order: Order): void {
    const run = order.run as Run
    const { level } = run
    order.run = undefined
    run.orders.delete(order)
    for (const piece of [run, level]) grow(piece, -order.base, -order.quote)
    if (run.orders.size > 0) return
    level.runs.delete(run)
    if (level.last === run) level.last = undefined
    if (level.runs.size === 0) this.levels.splice(this.#placeOf(level.tick), 1)
  }

  #levelAt(tick: number): Level {
    const place = this.#placeOf(tick)
    const found = this.levels[place]
    if (found?.tick === tick) return found
    const level = { tick, price: priceOf(tick), base: 0n, quote: 0n, runs: new Set<Run>() }
    this.levels.splice(place, 0, level)
    return level
  }

  /** The index of a tick's level, or where it would be. */
  #placeOf(tick: number): number {
    let [from, to] = [0, this.levels.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      const other = (this.levels[middle] as Level).tick
      if (this.isBid ? other > tick : other < tick) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** A run at the end of a level. */
function newRun(level: Level): Run {
  const run = { level, base: 0n, quote: 0n, orders: new Set<Order>(), placed: 0 }
  level.runs.add(run)
  return run
}

/**
 * The orders of a base token in what was its quote token when they were placed. A base whose quote token changed has more
 * than one book.
 */
export class Book {
  readonly base: string
  readonly quote: string
  readonly bids = new Side(true)
  readonly asks = new Side(false)
  /** The block of the first log that contradicts what is known of the book: from there on, nothing of it is certain. */
  unknownSince: number | null = null

  constructor(base: string, quote: string) {
    this.base = base
    this.quote = quote
  }

  sideOf(isBid: boolean): Side {
    return isBid ? this.bids : this.asks
  }
}
