import type { ForkTime } from '../../clickhouse/chain/forks.js'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import { MOST_AMOUNT } from '../../clickhouse/exchange/amounts.js'
import type { Changes, GenesisToken, OrderBooks } from '../../clickhouse/exchange/books.js'
import { isExchangeLog } from '../../clickhouse/exchange/events.js'
import { type Quote as BookQuote, type Question, quote } from '../../clickhouse/exchange/quote.js'
import { type Rules, rulesAt } from '../../clickhouse/exchange/rules.js'
import { questionsOf, type Sides, sideOf, sizeQuote } from '../../clickhouse/exchange/stable-quotes.js'
import { StandingQuotes } from '../../clickhouse/exchange/standing-quotes.js'
import { DEPTH_SIZES, ONE_TOKEN } from '../../clickhouse/peg/price.js'
import type { ChainEvent } from '../chain/event-types.js'
import { depthSample, type Quote, quoteOf } from '../sources/quotes.js'

/**
 * The chain's exchange as its logs show it: what it quotes at the end of the last block whose logs were applied. `forks`
 * returns when each fork came to the chain.
 */
export class Exchange {
  readonly #books: OrderBooks
  readonly #forks: () => readonly ForkTime[]
  readonly #standing: StandingQuotes
  readonly #sides = new Map<string, Sides<Question>>()
  readonly #stableOf = new Map<Question, string>()
  #rules: Rules
  /** Those of one token, by stable; without the unknown ones. */
  #quotes: ReadonlyMap<string, Quote> = new Map()
  #requoted = new Set<string>()
  #stables: readonly string[] = []

  constructor(books: OrderBooks, forks: () => readonly ForkTime[]) {
    this.#books = books
    this.#forks = forks
    this.#rules = rulesAt(forks(), 0)
    this.#standing = new StandingQuotes(books, this.#rules)
  }

  /** Of how many books and tokens logs contradict each other. */
  get unknownCount(): number {
    let count = 0
    for (const { unknownSince } of [...this.#books.books(), ...this.#books.tokens.values()])
      if (unknownSince !== null) count++
    return count
  }

  /** Adds the tokens that existed before the first block. */
  addGenesis(tokens: readonly GenesisToken[]): void {
    this.#books.addGenesis(tokens)
  }

  /**
   * Applies what the next block's events changed; returns the logs that contradict those before them. `stables`: those of which
   * quotes are wanted at its end; the same ones are best given as the same list.
   */
  apply(
    { number, time }: { number: number; time: number },
    events: readonly ChainEvent[],
    stables: readonly string[],
  ): Changes['contradictions'] {
    if (stables !== this.#stables) this.#askFor(stables)
    this.#rules = rulesAt(this.#forks(), time)
    const changes = this.#books.apply({ number, rules: this.#rules, logs: events.filter(isExchangeLog) })
    for (const question of this.#standing.update(changes, this.#rules))
      this.#requoted.add(this.#stableOf.get(question) as string)
    return changes.contradictions
  }

  /**
   * What one token of each wanted stable sells for and costs, without those of which logs contradict each other. The same map
   * until a quote changes.
   */
  quotes(): ReadonlyMap<string, Quote> {
    if (this.#requoted.size === 0) return this.#quotes
    const quotes = new Map(this.#quotes)
    for (const stable of this.#requoted) {
      const sides = this.#sides.get(stable)
      const [sell, buy] = (sides ? [sides.sell, sides.buy] : []).map((question) =>
        sideOf(ONE_TOKEN, this.#standing.answerTo(question) as BookQuote),
      )
      if (sell && buy) quotes.set(stable, quoteOf({ sell, buy }))
      else quotes.delete(stable)
    }
    this.#requoted.clear()
    this.#quotes = quotes
    return quotes
  }

  /**
   * What an amount of a token sells for, in base units of the reference stable; null if the exchange would not take all of it.
   * Undefined where logs contradict each other.
   */
  valueOf({ token, amount }: { token: string; amount: bigint }): bigint | null | undefined {
    if (amount > MOST_AMOUNT) return null
    const sold = quote(this.#books, questionsOf(token, amount).sell, this.#rules)
    return sold.status === 'unknown' ? undefined : sold.amount
  }

  /** What each size of each wanted stable sells for and costs: as `readDepths`, but without the stables that are unknown. */
  depths(block: { number: number; time: number }): DepthSample[] {
    return this.#stables.flatMap((stable) => {
      const depths = DEPTH_SIZES.flatMap((size_tokens) => {
        const sides = sizeQuote(this.#books, this.#rules, stable, BigInt(size_tokens) * ONE_TOKEN)
        return sides ? [depthSample({ stable, size_tokens }, block, sides)] : []
      })
      return depths.length === DEPTH_SIZES.length ? depths : []
    })
  }

  /** Asks about the stables from now on, and no longer about others: a chain of tokens may be between these by now. */
  #askFor(stables: readonly string[]): void {
    const wanted = new Set(stables)
    for (const [stable, { sell, buy }] of this.#sides) {
      if (wanted.has(stable)) continue
      this.#sides.delete(stable)
      for (const side of [sell, buy]) {
        this.#stableOf.delete(side)
        this.#standing.drop(side)
      }
      this.#requoted.add(stable)
    }
    for (const stable of stables) {
      if (this.#sides.has(stable)) continue
      const sides = questionsOf(stable, ONE_TOKEN)
      this.#sides.set(stable, sides)
      for (const side of [sides.sell, sides.buy]) {
        this.#stableOf.set(side, stable)
        this.#standing.ask(side)
      }
      this.#requoted.add(stable)
    }
    this.#stables = stables
  }
}
