import { REFERENCE_STABLE } from '../peg/price.js'
import { Book, type Order } from './book.js'
import type { Rules } from './rules.js'

/** An order as it is placed, or as it stands after it has flipped. */
export type PlacedArgs = {
  orderId: bigint
  maker: string
  token: string
  amount: bigint
  isBid: boolean
  tick: number
  flipTick: number
}
type FilledArgs = { orderId: bigint; amountFilled: bigint; partialFill: boolean }

/** A log that changes what the exchange quotes; every change of it has one. Addresses are in lower case. */
export type ExchangeLog = { logIndex: number; address: string } & (
  | { name: 'TokenCreated'; args: { token: string; quoteToken: string } }
  | { name: 'QuoteTokenUpdate'; args: { newQuoteToken: string } }
  | { name: 'PauseStateUpdate'; args: { isPaused: boolean } }
  | { name: 'PairCreated'; args: { base: string; quote: string } }
  | { name: 'OrderPlaced'; args: PlacedArgs & { isFlipOrder: boolean } }
  | { name: 'OrderFilled'; args: FilledArgs }
  | { name: 'OrderFlipped'; args: PlacedArgs }
  | { name: 'FlipFailed'; args: { orderId: bigint } }
  | { name: 'OrderCancelled'; args: { orderId: bigint } }
)

/** The logs of one block that change what the exchange quotes, in order of log index, and the rules of its time. */
export type ExchangeBlock = { number: number; rules: Rules; logs: readonly ExchangeLog[] }

/** A token as the exchange uses it. */
export type Token = {
  /** Null for the reference stable, which has none, and while it is not known. */
  quoteToken: string | null
  isPaused: boolean
  /** The block of the first log that contradicts what is known of the token: from there on, nothing of it is certain. */
  unknownSince: number | null
}

/** What is wrong with a log that contradicts the logs before it: one is missing, or is not understood. */
export const CONTRADICTIONS = [
  /** A token that was never created is paused, changes its quote token, or has an order. */
  'missing_token',
  'token_created_twice',
  /** A token is quoted, through others, in itself. */
  'quote_token_loop',
  'pair_created_twice',
  /** A book is opened for a quote token that is not that of its base. */
  'pair_of_other_quote_token',
  'order_without_pair',
  /** Ids ascend, so one that does not was given before. */
  'order_placed_twice',
  /** An order that was never placed, or is gone, is filled. */
  'fill_of_missing_order',
  /** More is filled than remains, or as much although the log says that something is left. */
  'fill_beyond_remainder',
  /** Something remains of an order although the log says that it was filled completely. */
  'fill_below_remainder',
  'cancel_of_missing_order',
  /** An order that was never placed, or is gone, flips or fails to. */
  'flip_of_missing_order',
  'flip_of_unfilled_order',
  'flip_of_plain_order',
  /** An order flips to another book, side, tick or amount than it was placed with. */
  'flip_on_other_terms',
  /** A flip order was filled, and no log says whether it flipped. */
  'flip_not_logged',
] as const
export type Contradiction = (typeof CONTRADICTIONS)[number]

/** What a block changed: only quotes whose route has one of these books or tokens may differ from those before it. */
export type Changes = {
  books: ReadonlySet<Book>
  tokens: ReadonlySet<string>
  contradictions: ReadonlyArray<{ contradiction: Contradiction; log_index: number }>
}

/** A token that existed before the first block, and so has no log; with its quote token then. */
export type GenesisToken = { token: string; quoteToken: string }

const bookKey = (base: string, quote: string): string => `${base} ${quote}`

/** The quote token of an order whose token has none that is known. No route leads through its book. */
const NO_TOKEN = ''

/**
 * The order books of Tempo's stablecoin exchange, rebuilt from logs alone. The same logs give the same books, whatever
 * became of the chain since.
 *
 * A book is the orders of a base token in the quote token that it had when they were placed. A later QuoteTokenUpdate
 * leaves them there, and new orders and quotes go to another book. OrderPlaced adds an order at the end of its tick's
 * queue. OrderFilled takes from what remains of it; unless the fill is partial, the order is gone. OrderCancelled removes
 * the rest. Orders do not expire, and those of a maker who may no longer trade remain until somebody cancels them. A
 * filled flip order is on the other side of its book, with its full amount and its two ticks exchanged: see
 * `Rules.flipsInPlace`.
 *
 * A log that contradicts those before it is counted, and the books that it may concern are unknown from its block on: what
 * they would quote is not certain. An order that is missing may have been in any of them.
 */
export class OrderBooks {
  readonly tokens = new Map<string, Token>([
    [REFERENCE_STABLE, { quoteToken: null, isPaused: false, unknownSince: null }],
  ])
  readonly contradictions = new Map<Contradiction, number>()
  /** The newest block that was applied; null before the first. */
  block: number | null = null
  lastOrderId = 0n
  readonly #books = new Map<string, Book>()
  readonly #orders = new Map<bigint, Order>()
  /** The tokens in which others are, or were, quoted. */
  readonly #quoteTokens = new Set<string>()
  /** The orders that the logs of the block have filled and that have not flipped yet. */
  readonly #filled = new Map<bigint, Order>()
  #changed = noChanges()
  #logIndex = -1

  constructor(genesis: readonly GenesisToken[] = []) {
    this.addGenesis(genesis)
  }

  /** Adds tokens that existed before the first block; before any is applied. */
  addGenesis(tokens: readonly GenesisToken[]): void {
    for (const { token, quoteToken } of tokens) {
      if (token === REFERENCE_STABLE) continue
      if (this.#isQuotedIn(quoteToken, token)) throw new Error(`${token} is quoted in itself`)
      this.addToken(token, { quoteToken, isPaused: false, unknownSince: null })
    }
  }

  /** Adds a token as it is now. */
  addToken(address: string, token: Token): void {
    this.tokens.set(address, token)
    if (token.quoteToken) this.#quoteTokens.add(token.quoteToken)
  }

  /** The book of a pair; undefined if it was never opened. */
  bookOf(base: string, quote: string): Book | undefined {
    return this.#books.get(bookKey(base, quote))
  }

  /** How many tokens, books and standing orders there are. */
  get entries(): number {
    return this.tokens.size + this.#books.size + this.#orders.size
  }

  books(): Iterable<Book> {
    return this.#books.values()
  }

  /** Adds a book, if it is not there. */
  openBook(base: string, quote: string): Book {
    const opened = this.bookOf(base, quote)
    if (opened) return opened
    const book = new Book(base, quote)
    this.#books.set(bookKey(base, quote), book)
    return book
  }

  /** Puts an order at the end of its queue. */
  addOrder(order: Order): void {
    this.#orders.set(order.id, order)
    order.book.sideOf(order.isBid).add(order)
  }

  /**
   * Applies the logs of the next block, and returns what they changed. Blocks without logs may be left out. Throws if the
   * block or a log of it is not after the one before: that is an error of the caller.
   */
  apply({ number, rules, logs }: ExchangeBlock): Changes {
    if (this.block !== null && number <= this.block) throw new Error(`block ${number} comes after block ${this.block}`)
    this.block = number
    this.#changed = noChanges()
    this.#logIndex = -1
    for (const log of logs) {
      if (log.logIndex <= this.#logIndex)
        throw new Error(`log ${log.logIndex} of block ${number} comes after log ${this.#logIndex}`)
      this.#logIndex = log.logIndex
      this.#applyLog(log)
    }
    for (const { flip, book } of this.#filled.values())
      if (flip && rules.flipsInPlace) this.#contradict('flip_not_logged', [book])
    this.#filled.clear()
    return this.#changed
  }

  #applyLog(log: ExchangeLog): void {
    switch (log.name) {
      case 'TokenCreated':
        this.#createToken(log.args.token, log.args.quoteToken)
        break
      case 'QuoteTokenUpdate':
        this.#requote(log.address, log.args.newQuoteToken)
        break
      case 'PauseStateUpdate':
        this.#tokenAt(log.address).isPaused = log.args.isPaused
        break
      case 'PairCreated':
        this.#openPair(log.args.base, log.args.quote)
        break
      case 'OrderPlaced':
        this.#place(log.args)
        break
      case 'OrderFilled':
        this.#fill(log.args)
        break
      case 'OrderCancelled':
        this.#cancel(log.args.orderId)
        break
      case 'OrderFlipped':
        this.#flip(log.args)
        break
      case 'FlipFailed':
        this.#filledFlip(log.args.orderId)
        break
    }
  }

  /** A token that a log changes. */
  #tokenAt(address: string): Token {
    this.#changed.tokens.add(address)
    const created = this.tokens.get(address)
    if (created) return created
    const token = { quoteToken: null, isPaused: false, unknownSince: null }
    this.tokens.set(address, token)
    this.#doubt(token, 'missing_token')
    return token
  }

  #createToken(address: string, quoteToken: string): void {
    const earlier = this.tokens.get(address)
    this.#changed.tokens.add(address)
    if (earlier) {
      this.#doubt(earlier, 'token_created_twice')
      return
    }
    this.tokens.set(address, { quoteToken: null, isPaused: false, unknownSince: null })
    this.#requote(address, quoteToken)
  }

  #requote(address: string, quoteToken: string): void {
    const token = this.#tokenAt(address)
    if (this.#isQuotedIn(quoteToken, address)) this.#doubt(token, 'quote_token_loop')
    else {
      token.quoteToken = quoteToken
      this.#quoteTokens.add(quoteToken)
    }
  }

  /** Whether a token is another, or quoted in it, be it through others. */
  #isQuotedIn(token: string, other: string): boolean {
    // Of a new token, in which none is quoted, the way need not be walked: a chain of them may be long.
    if (token !== other && !this.#quoteTokens.has(other)) return false
    for (let at: string | null | undefined = token; at; at = this.tokens.get(at)?.quoteToken)
      if (at === other) return true
    return false
  }

  #openPair(base: string, quote: string): void {
    const earlier = this.bookOf(base, quote)
    const book = this.openBook(base, quote)
    const token = this.#tokenAt(base)
    if (earlier) this.#contradict('pair_created_twice', [book])
    else if (token.quoteToken !== quote) this.#contradict('pair_of_other_quote_token', [book])
  }

  #place({ orderId, maker, token, amount, isBid, tick, ...args }: PlacedArgs & { isFlipOrder: boolean }): void {
    const quoteToken = (this.tokens.get(token) ?? this.#tokenAt(token)).quoteToken ?? NO_TOKEN
    const earlier = this.bookOf(token, quoteToken)
    const book = earlier ?? this.openBook(token, quoteToken)
    this.#changed.books.add(book)
    if (!earlier) {
      this.#changed.tokens.add(token)
      this.#contradict('order_without_pair', [book])
    }
    if (orderId <= this.lastOrderId) {
      const first = this.#orders.get(orderId)
      this.#contradict('order_placed_twice', first ? [book, first.book] : [book])
      if (first) return
    } else this.lastOrderId = orderId
    const flip = args.isFlipOrder ? { amount, tick: args.flipTick } : null
    this.addOrder({ id: orderId, maker, book, isBid, tick, base: amount, quote: 0n, flip, run: undefined })
  }

  #fill({ orderId, amountFilled, partialFill }: FilledArgs): void {
    const order = this.#orders.get(orderId)
    if (!order) {
      this.#contradict('fill_of_missing_order', this.#books.values())
      return
    }
    const left = order.base - amountFilled
    if (left < 0n || (left === 0n && partialFill)) this.#contradict('fill_beyond_remainder', [order.book])
    if (left > 0n && !partialFill) this.#contradict('fill_below_remainder', [order.book])
    if (left > 0n && partialFill) {
      this.#changed.books.add(order.book)
      order.book.sideOf(order.isBid).fill(order, amountFilled)
    } else {
      this.#remove(order)
      this.#filled.set(orderId, order)
    }
  }

  #cancel(orderId: bigint): void {
    const order = this.#orders.get(orderId)
    if (order) this.#remove(order)
    else this.#contradict('cancel_of_missing_order', this.#books.values())
  }

  #remove(order: Order): void {
    this.#changed.books.add(order.book)
    this.#orders.delete(order.id)
    order.book.sideOf(order.isBid).remove(order)
  }

  #flip({ orderId, maker, token, amount, isBid, tick, flipTick }: PlacedArgs): void {
    const filled = this.#filledFlip(orderId)
    if (!filled?.flip) return
    const { book, flip } = filled
    const isSame =
      token === book.base &&
      amount === flip.amount &&
      isBid !== filled.isBid &&
      tick === flip.tick &&
      flipTick === filled.tick
    if (!isSame) this.#contradict('flip_on_other_terms', this.#booksWith(token, book))
    const returned = { amount, tick: flipTick }
    this.addOrder({ id: orderId, maker, book, isBid, tick, base: amount, quote: 0n, flip: returned, run: undefined })
  }

  /** The filled order that a log flips, or fails to flip; it waits for no other. Undefined if there is none. */
  #filledFlip(orderId: bigint): Order | undefined {
    const resting = this.#orders.get(orderId)
    const filled = this.#filled.get(orderId)
    this.#filled.delete(orderId)
    if (resting) this.#contradict('flip_of_unfilled_order', [resting.book])
    else if (!filled) this.#contradict('flip_of_missing_order', this.#books.values())
    else if (!filled.flip) this.#contradict('flip_of_plain_order', [filled.book])
    return !resting && filled?.flip ? filled : undefined
  }

  /** A book, and those of a token. */
  #booksWith(token: string, book: Book): Book[] {
    return [book, ...[...this.#books.values()].filter(({ base }) => base === token)]
  }

  #contradict(contradiction: Contradiction, books: Iterable<Book>): void {
    this.contradictions.set(contradiction, (this.contradictions.get(contradiction) ?? 0) + 1)
    this.#changed.contradictions.push({ contradiction, log_index: this.#logIndex })
    for (const book of books) {
      book.unknownSince ??= this.block
      this.#changed.books.add(book)
    }
  }

  #doubt(token: Token, contradiction: Contradiction): void {
    token.unknownSince ??= this.block
    this.#contradict(contradiction, [])
  }
}

type OpenChanges = { books: Set<Book>; tokens: Set<string>; contradictions: Array<Changes['contradictions'][number]> }
const noChanges = (): OpenChanges => ({ books: new Set(), tokens: new Set(), contradictions: [] })
