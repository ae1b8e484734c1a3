import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { EngineError, syntaxError } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import type { ExternalTable } from '../query/external-tables.js'
import { splitParameters } from '../query/settings.js'
import { analyse, isInsertWithRows, type Statement, withoutRows } from '../sql/statement.js'
import type { Body } from './body.js'
import { type Form, readForm } from './form.js'

/** The engine's default of max_query_size. */
const defaultQueryBytes = 262_144

export type QueryRequest = {
  statement: Statement
  /** The statement as the client sent it, without the rows of an INSERT. */
  text: string
  /** Rows of an INSERT that were read together with the statement; more may follow in the body. */
  firstRows: Buffer
  params: Record<string, string>
  settings: Record<string, string>
  externalTables: ExternalTable[]
}

/**
 * Reads the statement from the URL and the body; the rows of an INSERT are left in the body. If a statement is not
 * allowed, calls `refused` with its text and throws.
 */
export async function readQuery(
  request: IncomingMessage,
  url: URLSearchParams,
  body: Body,
  pipes: Pipes,
  refused: (text: string) => void,
): Promise<QueryRequest> {
  assertServed(request, url)
  const { settings, params } = splitParameters(url)
  const contentType = request.headers['content-type'] ?? ''
  if (contentType.startsWith('multipart/form-data')) {
    return fromForm(await readForm(body, contentType, url, pipes), url, pipes, refused)
  }
  // As on a server, the statement consists of the parameter, a line break and the body.
  const head = url.has('query') && url.get('query') !== '' ? Buffer.from(`${url.get('query')}\n`) : Buffer.alloc(0)
  if (isInsertWithRows(head.toString()))
    return { ...splitRows(head, true, refused), params, settings, externalTables: [] }
  const limit = Math.max(Number(settings.max_query_size ?? 0) || 0, defaultQueryBytes)
  const { chunks, isComplete } = await body.readUpTo(limit)
  const parts = splitRows(Buffer.concat([head, ...chunks]), isComplete, refused)
  return { ...parts, params, settings, externalTables: [] }
}

/** Refuses requests as a server does, and roles, which this server does not have. */
function assertServed({ method, headers }: IncomingMessage, url: URLSearchParams): void {
  const hasLength = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (method === 'POST' && !hasLength) {
    const text = 'The Transfer-Encoding is not chunked and there is no Content-Length header for POST request'
    throw EngineError.of(381, 'HTTP_LENGTH_REQUIRED', text)
  }
  const role = url.get('role')
  if (role !== null) throw EngineError.of(511, 'UNKNOWN_ROLE', `There is no role \`${role}\` in user directories`)
}

async function fromForm(
  { fields, tables }: Form,
  url: URLSearchParams,
  pipes: Pipes,
  refused: (text: string) => void,
): Promise<QueryRequest> {
  try {
    const { settings, params } = splitParameters(url)
    Object.assign(params, splitParameters(fields).params)
    for (const { name } of tables) {
      for (const part of ['format', 'structure', 'types']) delete settings[`${name}_${part}`]
    }
    const sql = `${url.get('query') ?? ''}${fields.get('query') ?? ''}`
    return { ...splitRows(Buffer.from(sql), true, refused), params, settings, externalTables: tables }
  } catch (error) {
    await pipes.removeFiles(tables)
    throw error
  }
}

/**
 * The statement in `bytes`, and the rows after the head of an INSERT, which need not be text. If `bytes` is incomplete,
 * only an INSERT is accepted.
 */
function splitRows(
  bytes: Buffer,
  isComplete: boolean,
  refused: (text: string) => void,
): Pick<QueryRequest, 'statement' | 'text' | 'firstRows'> {
  const text = bytes.toString()
  if (!isComplete && !isInsertWithRows(text)) {
    throw syntaxError('Max query size exceeded (can be increased with the `max_query_size` setting)')
  }
  const statement = analyseOr(text, refused)
  const head = statement.kind === 'insert' ? Buffer.from(text.slice(0, statement.dataStart)) : bytes
  const isText = statement.kind === 'insert' ? bytes.subarray(0, head.length).equals(head) : isUtf8(bytes)
  if (!isText) throw syntaxError('The query is not valid UTF-8')
  const sent = statement.kind === 'insert' ? text.slice(0, statement.dataStart) : statement.sql
  return { statement, text: sent, firstRows: bytes.subarray(head.length) }
}

function analyseOr(text: string, refused: (text: string) => void): Statement {
  try {
    return analyse(text)
  } catch (error) {
    refused(withoutRows(text))
    throw error
  }
}

/** The database that a request names, in its header or its URL; an empty text if it names none. */
export const databaseOf = (request: IncomingMessage, url: URLSearchParams): string =>
  String(request.headers['x-clickhouse-database'] || url.get('database') || '')
