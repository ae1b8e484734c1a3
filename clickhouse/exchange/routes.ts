import { REFERENCE_STABLE } from '../peg/price.js'
import type { Book } from './book.js'
import type { OrderBooks, Token } from './books.js'
import type { Rules } from './rules.js'

/** A book on a route, and whether its base is sold there, to its bids, or bought, from its asks. */
type Hop = { book: Book; sellsBase: boolean }

/**
 * Why the exchange has no route. `same_token`: a token cannot be exchanged for itself. `no_token`: a token that does not
 * exist. `no_pair`: nobody has opened a book on the way. `paused`: a token that is sold on the way is paused. `unknown`:
 * logs contradict each other about a token on the way, so what the exchange would say is not certain.
 */
export type RouteRefusal = 'same_token' | 'no_token' | 'no_pair' | 'paused' | 'unknown'

/**
 * Most books between a stable and the reference stable for which quotes are requested. A quote passes through all of
 * them, so without a limit a chain of tokens that are quoted in each other makes every block as slow as its maker
 * likes: 400 tokens took 1.07 s a block. Real stables are one or two books away. The exchange bounds the price in each
 * book to 0.98..1.02, so eight books give 0.85..1.17.
 */
export const MOST_HOPS = 8

/** Whether more books than that lie between a stable and the reference stable. A token that does not exist is not deep. */
export function isTooDeep(books: OrderBooks, stable: string): boolean {
  let token: string | null | undefined = stable
  for (let hops = 0; hops <= MOST_HOPS; hops++) {
    if (!token || token === REFERENCE_STABLE) return false
    token = books.tokens.get(token)?.quoteToken
  }
  return true
}

/** The books through which the exchange trades one token for another, in order, or why there are none. */
export type Route = {
  /** The tokens that it depends on: another one's quote token, pause or books do not change it. */
  tokens: readonly string[]
} & ({ hops: readonly Hop[]; refusal: null } | { hops: null; refusal: RouteRefusal })

/**
 * How the exchange trades `from` for `to`: straight, if one is the other's quote token; else both climb their quote tokens
 * to the first that they share. Of several reasons to refuse, it gives the first on the way.
 */
export function routeOf(books: OrderBooks, from: string, to: string, rules: Rules): Route {
  const refused = (refusal: RouteRefusal, tokens: string[]): Route => ({ tokens, hops: null, refusal })
  const quoteTokenOf = (token: string): string | null => books.tokens.get(token)?.quoteToken ?? null
  if (from === to) return refused('same_token', [])
  const isStraight = quoteTokenOf(from) === to || quoteTokenOf(to) === from
  const [up, down] = isStraight ? [[from], [to]] : [climb(books, from), climb(books, to)]
  const tokens = [...up, ...down]
  const ofRoute = tokens.map((token) => books.tokens.get(token))
  if (ofRoute.some((token) => token && token.unknownSince !== null)) return refused('unknown', tokens)
  if (ofRoute.includes(undefined)) return refused('no_token', tokens)
  const shared = up.find((token) => down.includes(token))
  const path =
    shared === undefined
      ? tokens
      : [...up.slice(0, up.indexOf(shared)), ...down.slice(0, down.indexOf(shared) + 1).reverse()]

  const hops: Hop[] = []
  for (const [i, sold] of path.slice(0, -1).entries()) {
    const bought = path[i + 1] as string
    if (rules.refusesPaused && (books.tokens.get(sold) as Token).isPaused) return refused('paused', tokens)
    const sellsBase = quoteTokenOf(sold) === bought
    const book = sellsBase ? books.bookOf(sold, bought) : books.bookOf(bought, sold)
    if (!book) return refused('no_pair', tokens)
    hops.push({ book, sellsBase })
  }
  return { tokens, hops, refusal: null }
}

/** A token, what it is quoted in, and so on to the reference stable, or to a token that is not known. */
function climb(books: OrderBooks, from: string): string[] {
  const climbed = [from]
  for (let token = from; token !== REFERENCE_STABLE; climbed.push(token)) {
    const quoteToken = books.tokens.get(token)?.quoteToken
    if (!quoteToken) break
    token = quoteToken
  }
  return climbed
}
