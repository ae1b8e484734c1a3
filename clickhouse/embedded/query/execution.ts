import type { IncomingMessage } from 'node:http'
import type { NativeResult } from '../engine/addon.js'
import type { Connection } from '../engine/connection.js'
import type { Engine } from '../engine/engine.js'
import { EngineError, notImplemented, syntaxError } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import type { Body } from '../http/body.js'
import type { Reply } from '../http/reply.js'
import type { QueryRequest } from '../http/request.js'
import { insert, type Rows, readRows } from './insert.js'
import { RunningQuery } from './running-query.js'
import { select } from './select.js'
import { type SessionState, withSessionState } from './session-state.js'
import type { Sessions } from './sessions.js'
import { setStatement } from './settings.js'
import { mayEvaluate } from './values-format.js'

type Exchange = { request: IncomingMessage; url: URLSearchParams; body: Body; reply: Reply }

/** One request's statement, from the connection it needs to the end of its answer. */
export class Execution {
  readonly #engine: Engine
  readonly #pipes: Pipes
  readonly #sessions: Sessions
  readonly #exchange: Exchange
  #query: RunningQuery | undefined
  #isCancelled = false

  constructor(engine: Engine, pipes: Pipes, sessions: Sessions, exchange: Exchange) {
    this.#engine = engine
    this.#pipes = pipes
    this.#sessions = sessions
    this.#exchange = exchange
  }

  cancel(): void {
    this.#isCancelled = true
    void this.#query?.cancel()
  }

  /** Throws EngineError, while the reply can still tell it. */
  async run(asked: QueryRequest): Promise<void> {
    const { request, url, body, reply } = this.#exchange
    const rows = asked.statement.kind === 'insert' ? await readRows(asked.firstRows, body) : undefined
    const database = url.get('database') || String(request.headers['x-clickhouse-database'] ?? '')
    const sessionId = url.get('session_id')
    const isReadOnly = request.method === 'GET' || request.method === 'HEAD'
    if (sessionId) {
      const mustExist = url.get('session_check') === '1'
      const connection = await this.#sessions.take(sessionId, mustExist, () => this.#engine.connect('default'))
      const state: SessionState = { database, settings: asked.settings }
      try {
        await withSessionState(connection, state, () => this.#runOn(connection, asked, rows, isReadOnly))
      } finally {
        if (this.#isCancelled) await this.#sessions.close(sessionId)
        else this.#sessions.give(sessionId, url.get('session_timeout'))
      }
      // Only now, as the next request of the session comes on the heels of this answer.
      await reply.end()
      return
    }
    const connection = await this.#connect(database || 'default', asked, rows)
    try {
      const set = setStatement(asked.settings, isReadOnly ? 2 : 0)
      if (set !== '') connection.runNow(set)
      await this.#runOn(connection, asked, rows, isReadOnly)
      await reply.end()
    } finally {
      await connection.close()
    }
  }

  #connect(database: string, { statement }: QueryRequest, rows: Rows | undefined): Promise<Connection> {
    const isValues = statement.kind === 'insert' && statement.format.toLowerCase() === 'values'
    if (isValues && rows?.isComplete && mayEvaluate(rows.data)) return this.#engine.connectToEvaluate(database)
    return this.#engine.connect(database)
  }

  async #runOn(
    connection: Connection,
    asked: QueryRequest,
    rows: Rows | undefined,
    isReadOnly: boolean,
  ): Promise<void> {
    const query = new RunningQuery(this.#engine, connection)
    this.#query = query
    if (this.#isCancelled) void query.cancel()
    const started = process.hrtime.bigint()
    const result = await this.#execute(query, asked, rows, isReadOnly)
    this.#exchange.reply.header('X-ClickHouse-Summary', summary(result, asked, process.hrtime.bigint() - started))
  }

  async #execute(
    query: RunningQuery,
    asked: QueryRequest,
    rows: Rows | undefined,
    isReadOnly: boolean,
  ): Promise<NativeResult> {
    const { reply, body, url, request } = this.#exchange
    const { statement, params } = asked
    if (statement.kind === 'insert') {
      await this.#check(`${statement.head} ${statement.tail}`, isReadOnly, [1, 4])
      return insert(query, this.#pipes, statement, rows as Rows, body, params)
    }
    const defaultFormat = url.get('default_format') || String(request.headers['x-clickhouse-format'] ?? '')
    const format = statement.format ?? (defaultFormat || 'TabSeparated')
    reply.header('X-ClickHouse-Format', format)
    reply.header('Content-Type', this.#engine.contentType(format))
    // Class 1: WITH … INSERT … SELECT begins like a SELECT and has no rows.
    const queryClass = await this.#check(statement.sql, isReadOnly, statement.kind === 'select' ? [0, 1, 4] : undefined)
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
  async #check(sql: string, isReadOnly: boolean, expected: readonly number[] | undefined): Promise<number> {
    const { statementCount, queryClass } = await this.#engine.classify(sql)
    if (statementCount > 1) throw syntaxError('Syntax error (Multi-statements are not allowed)')
    if (expected?.includes(queryClass) === false) throw notImplemented('This statement is not supported over HTTP')
    if (isReadOnly && queryClass === 1) {
      throw EngineError.of(
        164,
        'READONLY',
        'Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries',
      )
    }
    return queryClass
  }
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
