import type { Book } from './book.js'
import type { Changes, OrderBooks } from './books.js'
import { type Question, type Quote, quoteAlong } from './quote.js'
import { type Route, routeOf } from './routes.js'
import type { Rules } from './rules.js'

/** Two tokens of which some amounts are quoted, and their route as it is now. */
type Pair = { from: string; to: string; route: Route; questions: Set<Question> }

/**
 * The answers to questions that are asked of every block. A block costs what its changes concern: a quote is computed
 * again if a book or a token on its route changed, and all are if the rules did.
 */
export class StandingQuotes {
  readonly #books: OrderBooks
  #rules: Rules
  readonly #answers = new Map<Question, Quote>()
  readonly #pairs = new Map<string, Pair>()
  readonly #byToken = new Map<string, Set<Pair>>()
  readonly #byBook = new Map<Book, Set<Pair>>()

  constructor(books: OrderBooks, rules: Rules) {
    this.#books = books
    this.#rules = rules
  }

  /** Adds a question, and returns its answer at the end of the last block. */
  ask(question: Question): Quote {
    const { from, to } = question
    const key = `${from} ${to}`
    const pair = this.#pairs.get(key) ?? this.#routed({ from, to, questions: new Set() })
    this.#pairs.set(key, pair)
    pair.questions.add(question)
    return this.#answered(pair, question)
  }

  /** Answers a question no more. */
  drop(question: Question): void {
    const key = `${question.from} ${question.to}`
    const pair = this.#pairs.get(key)
    this.#answers.delete(question)
    pair?.questions.delete(question)
    if (!pair || pair.questions.size > 0) return
    this.#pairs.delete(key)
    this.#unroute(pair)
  }

  /** The answer to a question that was asked. */
  answerTo(question: Question): Quote | undefined {
    return this.#answers.get(question)
  }

  /** Takes in what the last block changed, and returns the questions that were answered again. */
  update({ books, tokens }: Pick<Changes, 'books' | 'tokens'>, rules: Rules): Question[] {
    const hasNewRules =
      rules.refusesPaused !== this.#rules.refusesPaused || rules.roundsByOrder !== this.#rules.roundsByOrder
    this.#rules = rules
    const rerouted = hasNewRules ? new Set(this.#pairs.values()) : pairsOf(this.#byToken, tokens)
    for (const pair of rerouted) this.#reroute(pair)
    const requoted = new Set([...rerouted, ...pairsOf(this.#byBook, books)])
    const questions = [...requoted].flatMap((pair) => [...pair.questions].map((question) => [pair, question] as const))
    for (const [pair, question] of questions) this.#answered(pair, question)
    return questions.map(([, question]) => question)
  }

  #answered({ route }: Pair, question: Question): Quote {
    const answer = quoteAlong(route, question.exact, question.amount, this.#rules)
    this.#answers.set(question, answer)
    return answer
  }

  #reroute(pair: Pair): void {
    this.#unroute(pair)
    this.#routed(pair)
  }

  #unroute(pair: Pair): void {
    for (const token of pair.route.tokens) takeFrom(this.#byToken, token, pair)
    for (const { book } of pair.route.hops ?? []) takeFrom(this.#byBook, book, pair)
  }

  /** Finds the route of a pair. */
  #routed(unrouted: Omit<Pair, 'route'>): Pair {
    const pair = Object.assign(unrouted, { route: routeOf(this.#books, unrouted.from, unrouted.to, this.#rules) })
    for (const token of pair.route.tokens) addTo(this.#byToken, token, pair)
    for (const { book } of pair.route.hops ?? []) addTo(this.#byBook, book, pair)
    return pair
  }
}

function addTo<Key>(index: Map<Key, Set<Pair>>, key: Key, pair: Pair): void {
  const pairs = index.get(key)
  if (pairs) pairs.add(pair)
  else index.set(key, new Set([pair]))
}

function takeFrom<Key>(index: Map<Key, Set<Pair>>, key: Key, pair: Pair): void {
  const pairs = index.get(key)
  pairs?.delete(pair)
  if (pairs?.size === 0) index.delete(key)
}

const pairsOf = <Key>(index: ReadonlyMap<Key, Set<Pair>>, keys: ReadonlySet<Key>): Set<Pair> =>
  new Set([...keys].flatMap((key) => [...(index.get(key) ?? [])]))
