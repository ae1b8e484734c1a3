import { setTimeout as sleep } from 'node:timers/promises'
import type { Body, Question } from './questions.js'

export type Api = { url: string; key: string | null; signal: AbortSignal }

/** An answer: its body is null without one (404), with a price and no key (402), and for any failure. */
export type Published = { status: number; body: Body | null }

/** How often a request is repeated that is over the limit, or that came while the service was busy. */
const ATTEMPTS = 20

/**
 * The rows of a CSV without line breaks or commas in its cells, as those of all series. Its text does not tell numbers
 * from amounts: a cell is a number where one is expected.
 */
function csvRows(text: string, expected: readonly Body[]): Body[] {
  const [head = '', ...lines] = text.trimEnd().replaceAll('"', '').split('\n')
  const names = head.split(',')
  const figureOf = (cell: string, wanted: unknown): unknown => {
    if (cell === '\\N' || cell === '') return null
    return typeof wanted === 'number' ? Number(cell) : cell
  }
  return lines.map((line, row) => {
    const cells = line.split(',').map((cell, i) => [names[i] as string, cell] as const)
    return Object.fromEntries(cells.map(([name, cell]) => [name, figureOf(cell, expected[row]?.[name])]))
  })
}

/** A body in any of the compared formats, as the JSON one would be. */
function bodyOf(text: string, { query: { format }, expected }: Question): Body {
  if (format === 'csv') return { data: csvRows(text, (expected as { data: Body[] }).data) }
  if (format === 'ndjson')
    return {
      data: text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Body),
    }
  return JSON.parse(text) as Body
}

/** Path and parameters of a question. */
export function addressOf({ path, query }: Question): string {
  const text = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, `${value}`]))
  return `${path}?${new URLSearchParams(text)}`
}

/** Asks the API. Waits when it is over its limit or busy. */
export async function ask({ url, key, signal }: Api, question: Question): Promise<Published> {
  const address = `${url}/api/v1/${addressOf(question)}`
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(address, {
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    })
    const { status } = response
    const text = await response.text()
    if (status === 200) return { status, body: bodyOf(text, question) }
    if ((status !== 429 && status !== 503) || attempt === ATTEMPTS) return { status, body: null }
    await sleep(1000 * Number(response.headers.get('retry-after') ?? 1), undefined, { signal })
  }
}
