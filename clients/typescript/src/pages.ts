import { UnexpectedAnswerError } from './errors.js'

/**
 * A list. Awaited, it is its first page; iterated over, all of its rows, each page requested when the one before is used
 * up. `pages()` has the pages: keep the `next_cursor` (of events, `next_after`) of the last one to continue later.
 */
export type Paged<Answer, Row> = Promise<Answer> & AsyncIterable<Row> & { pages: () => AsyncIterable<Answer> }

/** The part of an answer that leads to the next page. A list has some of it. */
type Linked = { as_of?: unknown; known_at?: unknown; next_cursor?: unknown; next_after?: unknown; has_more?: unknown }

type Params = Readonly<Record<string, unknown>>

/** The parameters of the next page; null after the last one. */
function following(params: Params, answer: Linked): Params | null {
  const next = { ...params }
  // `24h` is another moment for every page, unless they keep the one of the first.
  for (const name of ['as_of', 'known_at'] as const)
    if (params[name] !== undefined && typeof answer[name] === 'string') next[name] = answer[name]
  if (answer.next_cursor) next.cursor = answer.next_cursor
  else if (answer.has_more && answer.next_after !== undefined) next.after = String(answer.next_after)
  else return null
  return next
}

const isSamePage = (a: Params, b: Params): boolean => a.cursor === b.cursor && a.after === b.after

/** The list at `url`, whose pages have an array `rows`. Its first page is requested at once. */
export function paged<Answer extends object>(
  request: (params: Params) => Promise<Answer>,
  { url, first, rows }: { url: string; first: Params; rows: string },
): Paged<Answer, unknown> {
  const answer = request(first)

  async function* pages(): AsyncGenerator<Answer> {
    let [params, page] = [first, await answer]
    for (;;) {
      yield page
      const next = following(params, page)
      if (next === null) return
      if (isSamePage(params, next)) throw new UnexpectedAnswerError('the next page is the same one', { url })
      params = next
      page = await request(params)
    }
  }

  async function* all(): AsyncGenerator<unknown> {
    for await (const page of pages()) yield* (page as Record<string, unknown[] | undefined>)[rows] ?? []
  }

  return Object.assign(answer, { [Symbol.asyncIterator]: all, pages })
}
