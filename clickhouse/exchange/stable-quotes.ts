import { isPrice, type QuoteStatus, REFERENCE_STABLE } from '../peg/price.js'
import type { OrderBooks } from './books.js'
import { type Question, type Quote, quote } from './quote.js'
import { isTooDeep } from './routes.js'
import type { Rules } from './rules.js'

/** One side's quote of a size: base units of the reference stable, or null and the reason. */
export type SideQuote = { status: QuoteStatus; amount: bigint | null }

/** What selling and buying the same size of a stable would give and cost. */
export type Sides<Side> = { sell: Side; buy: Side }

/** An answer of the exchange about `size` base units, unless no book allows it. */
export const sideQuote = (size: bigint, { status, amount }: SideQuote): SideQuote =>
  amount === null || isPrice(amount, size) ? { status, amount } : { status: 'out_of_range', amount: null }

/** What `size` base units of a stable sell for, and what they cost, in the reference stable. */
export const questionsOf = (stable: string, size: bigint): Sides<Question> => ({
  sell: { from: stable, to: REFERENCE_STABLE, exact: 'in', amount: size },
  buy: { from: REFERENCE_STABLE, to: stable, exact: 'out', amount: size },
})

/** The status of a quote from the books; null where their logs contradict each other. */
const STATUS_OF: Readonly<Record<Quote['status'], QuoteStatus | null>> = {
  quoted: 'quoted',
  no_liquidity: 'no_liquidity',
  no_pair: 'no_pair',
  paused: 'paused',
  no_token: 'failed',
  same_token: 'anchor',
  overflow: 'failed',
  unknown: null,
}

/** A side of `size` base units as the books quote it; null where they are unknown. */
export function sideOf(size: bigint, { status, amount }: Quote): SideQuote | null {
  const ofSide = STATUS_OF[status]
  return ofSide && sideQuote(size, { status: ofSide, amount })
}

/**
 * What `size` base units of a stable sell for and cost at the end of the last block that was applied, unless it is too many books
 * away; null where it is unknown.
 */
export function sizeQuote(books: OrderBooks, rules: Rules, stable: string, size: bigint): Sides<SideQuote> | null {
  const tooDeep: SideQuote = { status: 'too_deep', amount: null }
  if (isTooDeep(books, stable)) return { sell: tooDeep, buy: tooDeep }
  const questions = questionsOf(stable, size)
  const sell = sideOf(size, quote(books, questions.sell, rules))
  const buy = sideOf(size, quote(books, questions.buy, rules))
  return sell && buy && { sell, buy }
}
