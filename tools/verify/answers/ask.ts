import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { decodeRows } from '../../../clickhouse/store/decode.js'
import type { Body, Question } from './questions.js'

/** `clickhouse` decodes the binary formats, and CSV. */
export type Api = { url: string; key: string | null; signal: AbortSignal; clickhouse: ClickHouseClient }

/**
 * An answer: its body is null without one (404), with a price and no key (402), and for any failure. `fault` says why its
 * bytes are not of the requested format.
 */
export type Published = { status: number; body: Body | null; fault?: string }

/** How often a request is repeated that is over the limit, or that came while the service was busy. */
const ATTEMPTS = 20
/** Over the limit, overloaded, or so busy that the request was not read in time. */
const BUSY: readonly number[] = [429, 503, 408]

/** A decoded figure in the type in which JSON has it: formats write numbers, times and lists in different ways. */
function figureOf(cell: unknown, expected: unknown): unknown {
  if (cell === null || cell === undefined) return null
  if (typeof expected === 'number') return Number(cell)
  if (Array.isArray(expected) && typeof cell === 'string') return JSON.parse(cell.replaceAll("'", '"'))
  return typeof expected === 'string' ? `${cell}`.replace('.000Z', 'Z') : cell
}

/** The rows of an export, as JSON would have them. */
async function rowsOf(api: Api, bytes: Buffer, { query: { format }, expected }: Question): Promise<Body[]> {
  if (format === 'ndjson')
    return `${bytes}`
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Body)
  if (format !== 'csv' && format !== 'parquet' && format !== 'arrow') return []
  const rows = await decodeRows(api.clickhouse, { format, bytes })
  const expectedRows = (expected as { data?: Body[] } | null)?.data ?? []
  return rows.map((row, i) =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, figureOf(cell, expectedRows[i]?.[name])])),
  )
}

/** A body in any format, as the JSON one would be. */
async function bodyOf(api: Api, bytes: Buffer, coverage: string | null, question: Question): Promise<Body> {
  const { format = 'json' } = question.query
  if (format === 'json') return JSON.parse(`${bytes}`) as Body
  return { data: await rowsOf(api, bytes, question), coverage: coverage && JSON.parse(coverage) }
}

/** Path and parameters of a question. */
export function addressOf({ path, query }: Question): string {
  const text = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, `${value}`]))
  return `${path}?${new URLSearchParams(text)}`
}

/** What came for a request; only why, if the connection broke or nothing came for a minute. */
type Received = { status: number; headers: Headers; bytes: Buffer } | { broke: string }

async function receive({ key, signal }: Api, address: string): Promise<Received> {
  try {
    const response = await fetch(address, {
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    })
    const { status, headers } = response
    return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
  } catch (error) {
    signal.throwIfAborted()
    return { broke: (error as Error).message }
  }
}

/** Asks for one page. Waits when the API is over its limit, busy or away. */
async function askPage(api: Api, question: Question): Promise<Published> {
  const address = `${api.url}/api/v1/${addressOf(question)}`
  for (let attempt = 1; ; attempt++) {
    const received = await receive(api, address)
    if ('status' in received && received.status === 200)
      return bodyOf(api, received.bytes, received.headers.get('x-coverage'), question).then(
        (body) => ({ status: 200, body }),
        (error: Error) => ({ status: 200, body: null, fault: error.message }),
      )
    if ('broke' in received && attempt === ATTEMPTS) return { status: 0, body: null, fault: received.broke }
    if ('status' in received && (!BUSY.includes(received.status) || attempt === ATTEMPTS))
      return { status: received.status, body: null }
    const wait = 'status' in received ? Number(received.headers.get('retry-after') ?? 1) : 1
    await sleep(1000 * wait, undefined, { signal: api.signal })
  }
}

/** Asks the API. Of a question with pages, the body is the list of their bodies, as `pages`. */
export async function ask(api: Api, question: Question): Promise<Published> {
  const { nextPage } = question
  if (!nextPage) return askPage(api, question)
  const pages: Body[] = []
  for (let query: Question['query'] | null = question.query; query !== null; query = nextPage(query, pages)) {
    const page = await askPage(api, { ...question, query })
    if (page.body === null) return page
    pages.push(page.body)
  }
  return { status: 200, body: { pages } }
}
