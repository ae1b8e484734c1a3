import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { badRequest, notImplemented, syntaxError } from '../engine/errors.js'
import { splitParameters } from '../query/settings.js'
import { analyse, isInsertWithRows, type Statement } from '../sql/statement.js'
import type { Body } from './body.js'

/** The engine's own default of max_query_size. */
const defaultQueryBytes = 262_144
const formBytes = 16 * 1024 * 1024

export type QueryRequest = {
  statement: Statement
  /** The statement as it was sent, without the rows of an INSERT. */
  text: string
  /** Rows of an INSERT that came with the statement; more may follow in the body. */
  firstRows: Buffer
  params: Record<string, string>
  settings: Record<string, string>
}

/** Reads the statement from URL and body, and leaves the rows of an INSERT in the body. */
export async function readQuery(request: IncomingMessage, url: URLSearchParams, body: Body): Promise<QueryRequest> {
  const { settings, params } = splitParameters(url)
  const contentType = request.headers['content-type'] ?? ''
  if (contentType.startsWith('multipart/form-data')) {
    const form = await readForm(body, contentType)
    Object.assign(params, splitParameters(form).params)
    const sql = `${url.get('query') ?? ''}${form.get('query') ?? ''}`
    return { ...splitRows(Buffer.from(sql), true), params, settings }
  }
  // As on a server: the statement is the parameter, a line break and the body.
  const head = url.has('query') && url.get('query') !== '' ? Buffer.from(`${url.get('query')}\n`) : Buffer.alloc(0)
  if (isInsertWithRows(head.toString())) return { ...splitRows(head, true), params, settings }
  const limit = Math.max(Number(settings.max_query_size ?? 0) || 0, defaultQueryBytes)
  const { chunks, isComplete } = await body.readUpTo(limit)
  const found = splitRows(Buffer.concat([head, ...chunks]), isComplete)
  return { ...found, params, settings }
}

/**
 * The statement in `bytes`, and what stands behind the head of an INSERT, which need not be text. Only the head of
 * an INSERT may be found in bytes that are not all.
 */
function splitRows(bytes: Buffer, isComplete: boolean): Pick<QueryRequest, 'statement' | 'text' | 'firstRows'> {
  const text = bytes.toString()
  if (!isComplete && !isInsertWithRows(text)) {
    throw syntaxError('Max query size exceeded (can be increased with the `max_query_size` setting)')
  }
  const statement = analyse(text)
  const head = statement.kind === 'insert' ? Buffer.from(text.slice(0, statement.dataStart)) : bytes
  const isText = statement.kind === 'insert' ? bytes.subarray(0, head.length).equals(head) : isUtf8(bytes)
  if (!isText) throw syntaxError('The query is not valid UTF-8')
  const sent = statement.kind === 'insert' ? text.slice(0, statement.dataStart) : statement.sql
  return { statement, text: sent, firstRows: bytes.subarray(head.length) }
}

async function readForm(body: Body, contentType: string): Promise<Map<string, string>> {
  const { chunks, isComplete } = await body.readUpTo(formBytes)
  if (!isComplete) throw badRequest(`A multipart body may have up to ${formBytes} bytes`)
  const headers = { 'content-type': contentType }
  const form = await new Response(Buffer.concat(chunks), { headers }).formData().catch(() => {
    throw badRequest('The multipart body is malformed')
  })
  const fields = new Map<string, string>()
  for (const [name, value] of form) {
    const isKnown = name === 'query' || name.startsWith('param_')
    if (!isKnown) throw notImplemented(`External tables are not supported (part ${name})`)
    fields.set(name, typeof value === 'string' ? value : await value.text())
  }
  return fields
}
