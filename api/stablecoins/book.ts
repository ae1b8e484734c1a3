import { z } from 'zod'
import { Coverage, type DataState, withState } from '../../clickhouse/chain/coverage.js'
import type { Token } from '../../clickhouse/exchange/books.js'
import { publishedBook } from '../../clickhouse/exchange/published-book.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { AsOfEcho, AsOfQuery, allUntil } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { costOfBooks } from './exchange-books.js'

/** Most levels of a side in an answer, and how many it has if none are asked for. */
const [MOST_LEVELS, LEVELS] = [400, 50]

const amount = (what: string) => z.string().meta({ description: `${what}, in base units of the stable` })
const price = z.number().nullable()

const BookSide = z
  .object({
    best_price: price.meta({ description: 'In the quote token; null if the side is empty' }),
    amount_raw: amount('What all orders of the side hold'),
    orders: z.int().meta({ description: 'How many orders stand on the side' }),
    level_count: z.int().meta({ description: 'At how many prices they stand' }),
    levels: z
      .array(
        z.object({
          tick: z.int().meta({ description: 'price = 1 + tick / 100,000' }),
          price: z.number().meta({ description: 'Of one token, in the quote token' }),
          amount_raw: amount('What the orders of this price hold'),
          total_raw: amount('What they and those of all better prices hold'),
          orders: z.int().meta({ description: 'How many orders stand at this price' }),
        }),
      )
      .meta({ description: 'The best price first; at most as many as `levels`' }),
    makers: z.int().meta({ description: 'How many makers the side has' }),
    largest_maker: z
      .object({
        maker: z.string().meta({ description: 'Who has the largest amount on the side' }),
        amount_raw: amount('What this maker has on the side'),
        share: z.number().meta({ description: 'Of all that the side holds, from 0 to 1' }),
        without: z
          .object({
            best_price: price.meta({ description: 'The best price of the others; null if there are none' }),
            amount_raw: amount('What the others hold'),
          })
          .meta({ description: 'The side without this maker' }),
      })
      .nullable()
      .meta({ description: 'On whom most of the side depends; null if it is empty' }),
  })
  .nullable()

const BookResponse = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  block_number: z.int().nullable().meta({
    description: 'The newest block up to then in which anything changed on the exchange; null before the first',
  }),
  coverage: Coverage,
  books: z
    .array(
      z.object({
        quote_token: z.string().meta({ description: 'What the stable is traded for in this book' }),
        is_routed: z.boolean().meta({
          description:
            'Whether quotes and swaps of the stable go through it. false of a book of an earlier quote token: its orders stand until they are cancelled',
        }),
        unknown_since: z.int().nullable().meta({
          description:
            'The block from which on logs contradict each other about the book, so that its orders are not known; null if none do',
        }),
        mid_price: price.meta({ description: 'Halfway between the best bid and the best ask; null without both' }),
        bids: BookSide.meta({ description: 'Who buys the stable; null if not known' }),
        asks: BookSide.meta({ description: 'Who sells the stable; null if not known' }),
      }),
    )
    .meta({ description: 'The order books of which the stable is the base, that of its present quote token first' }),
})

function stateOf(
  stable: string,
  token: Pick<Token, 'unknownSince'> | undefined,
  books: ReadonlyArray<{ unknown_since: number | null }>,
): DataState {
  if (stable === REFERENCE_STABLE)
    return {
      status: 'unavailable',
      message: 'The reference stable has no book of its own: all others are traded for it.',
    }
  if (token && token.unknownSince !== null)
    return {
      status: 'partial',
      message: `Logs contradict each other about its quote token from block ${token.unknownSince} on.`,
    }
  if (books.length === 0) return { status: 'complete', message: 'Nobody has opened a book for it.' }
  if (books.some(({ unknown_since }) => unknown_since !== null))
    return { status: 'partial', message: 'Logs contradict each other about a book: its orders are not known.' }
  return { status: 'complete', message: 'Every order since the first block.' }
}

/** The orders for a stable on the chain's own exchange. */
export const bookRoute = endpoint({
  path: '/stablecoins/:address/book',
  tag: 'peg',
  operationId: 'getBook',
  summary: 'The order book now or at any time, by price, and who makes it',
  description:
    'Rebuilt from all logs of the exchange since the first block: orders placed, filled, flipped and cancelled. What any amount trades at is in `/depth`.',
  about: 'moment',
  query: {
    ...AsOfQuery,
    levels: z.coerce
      .number()
      .int()
      .min(1)
      .max(MOST_LEVELS)
      .default(LEVELS)
      .meta({ description: 'Most prices of each side' }),
  },
  response: BookResponse,
  cache: CACHE_POLICIES.book,
  cost: ({ query }) => costOfBooks(query),
  covers: ({ stable, at, since }) => ({
    families: ['catalogue'],
    logsOf: ['exchange'],
    stable,
    since,
    ...allUntil(at),
  }),
  answer: async ({ app, stable, cutoff, coverage, query: { levels }, reads }) => {
    const { books: exchange } = await app.exchangeBooks(cutoff, reads)
    const token = exchange.tokens.get(stable)
    const quoteToken = token?.quoteToken
    const books = [...exchange.books()]
      .filter(({ base }) => base === stable)
      .sort((a, b) => Number(b.quote === quoteToken) - Number(a.quote === quoteToken))
      .map((book) => publishedBook(book, book.quote === quoteToken, levels))
    return {
      address: stable,
      block_number: exchange.block,
      coverage: withState(coverage, stateOf(stable, token, books)),
      books,
    }
  },
})
