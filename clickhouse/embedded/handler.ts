import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NativeResult } from './addon.js'
import { authenticate, type Credentials } from './auth.js'
import { Body } from './body.js'
import type { Connection } from './connection.js'
import type { Engine } from './engine.js'
import { EngineError, notImplemented, syntaxError } from './errors.js'
import { insert, select } from './execute.js'
import type { Pipes } from './pipes.js'
import { type Encoding, Reply } from './reply.js'
import { type QueryRequest, readQuery } from './request.js'
import { RunningQuery } from './running-query.js'
import { prelude } from './settings.js'

/** As much as a server holds back before it sends the status. */
const holdBytes = 1024 * 1024

export type HandlerOptions = { credentials: Credentials; maxConcurrentQueries: number }

/** Answers requests for queries. Counts and knows those that run, so that they can be stopped. */
export class QueryHandler {
  readonly #engine: Engine
  readonly #pipes: Pipes
  readonly #options: HandlerOptions
  readonly #running = new Set<Promise<void>>()
  readonly #queries = new Set<RunningQuery>()

  constructor(engine: Engine, pipes: Pipes, options: HandlerOptions) {
    this.#engine = engine
    this.#pipes = pipes
    this.#options = options
  }

  /** Never throws: what goes wrong is in the answer. */
  handle(request: IncomingMessage, response: ServerResponse, url: URLSearchParams): void {
    const run = this.#handle(request, response, url).finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** Stops everything that runs and resolves when it has ended. */
  async stop(): Promise<void> {
    for (const query of this.#queries) void query.cancel()
    await Promise.allSettled(this.#running)
  }

  async #handle(request: IncomingMessage, response: ServerResponse, url: URLSearchParams): Promise<void> {
    const encoding = replyEncoding(request, url)
    const timeoutMs = (Number(url.get('http_send_timeout')) || 30) * 1000
    const reply = new Reply(response, { encoding, holdBytes, timeoutMs })
    reply.header('X-ClickHouse-Query-Id', url.get('query_id') || randomUUID())
    reply.header('X-ClickHouse-Timezone', this.#engine.timezone)
    reply.header('X-ClickHouse-Server-Display-Name', 'plumbline-clickhouse')
    try {
      authenticate(request, url, this.#options.credentials)
      if (this.#running.size >= this.#options.maxConcurrentQueries) {
        const text = `Too many simultaneous queries. Maximum: ${this.#options.maxConcurrentQueries}`
        throw EngineError.of(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', text)
      }
      const body = new Body(request, (Number(url.get('http_receive_timeout')) || 30) * 1000)
      const asked = await readQuery(request, url, body)
      await this.#run(request, response, url, asked, body, reply)
      await reply.end()
    } catch (error) {
      await reply.fail(EngineError.from(error), this.#engine.version)
    }
  }

  async #run(
    request: IncomingMessage,
    response: ServerResponse,
    url: URLSearchParams,
    asked: QueryRequest,
    body: Body,
    reply: Reply,
  ): Promise<void> {
    const isReadOnly = request.method === 'GET' || request.method === 'HEAD'
    const database = url.get('database') || String(request.headers['x-clickhouse-database'] ?? '') || 'default'
    const connection = await this.#engine.connect()
    const query = new RunningQuery(this.#engine, connection)
    this.#queries.add(query)
    const onClose = () => {
      if (!response.writableFinished) void query.cancel()
    }
    response.once('close', onClose)
    try {
      const setup = prelude(database, asked.settings, isReadOnly ? 2 : 0)
      if (setup !== '') await query.run(setup)
      const started = process.hrtime.bigint()
      const format = url.get('default_format') || String(request.headers['x-clickhouse-format'] ?? '') || 'TabSeparated'
      const result = await this.#execute(query, asked, body, format, reply)
      reply.header('X-ClickHouse-Summary', summary(result, asked, process.hrtime.bigint() - started))
    } finally {
      response.off('close', onClose)
      this.#queries.delete(query)
      await close(connection)
    }
  }

  async #execute(
    query: RunningQuery,
    asked: QueryRequest,
    body: Body,
    defaultFormat: string,
    reply: Reply,
  ): Promise<NativeResult> {
    const { statement, params } = asked
    if (statement.kind === 'insert') {
      await this.#check(`${statement.head} ${statement.tail}`, [1, 4])
      return insert(query, this.#pipes, statement, asked.firstRows, body, params)
    }
    const format = statement.format ?? defaultFormat
    reply.header('X-ClickHouse-Format', format)
    reply.header('Content-Type', this.#engine.contentType(format))
    // Class 1: WITH … INSERT … SELECT begins like a SELECT and has no rows.
    const queryClass = await this.#check(statement.sql, statement.kind === 'select' ? [0, 1, 4] : undefined)
    if (statement.kind === 'select' && queryClass !== 1) {
      try {
        return await select(query, this.#pipes, statement, format, params, reply)
      } catch (error) {
        // The text as it was sent gives the error that a server would give.
        if (EngineError.from(error).code !== 62 || reply.hasBytes || queryClass !== 0) throw error
      }
    }
    const result = await query.run(statement.sql, format, params)
    await reply.write(result.bytes)
    return result
  }

  /**
   * The engine's parser has to see at most one statement, of the class that the gateway saw: a file clause that slipped
   * through would make a SELECT a control statement. Class 4 is what does not parse; running it gives the error text.
   */
  async #check(sql: string, expected: readonly number[] | undefined): Promise<number> {
    const { statementCount, queryClass } = await this.#engine.classify(sql)
    if (statementCount > 1) throw syntaxError('Syntax error (Multi-statements are not allowed)')
    if (expected?.includes(queryClass) === false) throw notImplemented('This statement is not supported over HTTP')
    return queryClass
  }
}

/** Closing waits for the engine; the answer does not have to. */
async function close(connection: Connection): Promise<void> {
  await connection.close()
}

function replyEncoding(request: IncomingMessage, url: URLSearchParams): Encoding | undefined {
  const isOn = url.get('enable_http_compression')
  if (isOn !== '1' && isOn !== 'true') return undefined
  const accepted = String(request.headers['accept-encoding'] ?? '')
  return (['br', 'gzip', 'deflate'] as const).find((encoding) => accepted.includes(encoding))
}

function summary(result: NativeResult, asked: QueryRequest, elapsedNs: bigint): string {
  const isInsert = asked.statement.kind === 'insert'
  const [rows, bytes] = [String(result.rowsRead), String(result.bytesRead)]
  return JSON.stringify({
    read_rows: rows,
    read_bytes: bytes,
    written_rows: isInsert ? rows : '0',
    written_bytes: isInsert ? bytes : '0',
    total_rows_to_read: '0',
    result_rows: rows,
    result_bytes: bytes,
    elapsed_ns: elapsedNs.toString(),
  })
}
