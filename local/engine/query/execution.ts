import type { IncomingMessage, ServerResponse } from 'node:http'
import type { User } from '../access/users.js'
import type { NativeResult } from '../engine/addon.js'
import type { Connection } from '../engine/connection.js'
import type { Engine } from '../engine/engine.js'
import { EngineError } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import type { Progress } from '../engine/progress.js'
import type { Body } from '../http/body.js'
import type { Reply } from '../http/reply.js'
import { databaseOf, type QueryRequest, readQuery } from '../http/request.js'
import { responseHeaders } from '../http/response-headers.js'
import { assertRequestAllowed } from '../judge/request.js'
import { admit, admitInsert, mayEvaluateRows } from './admit.js'
import { assertFormat, assertRunnable, isFlushOfLogs, readOnly, unparsed } from './check.js'
import { dropTemporary, loadTables } from './external-tables.js'
import { type Figures, figuresOf, summaryOf } from './figures.js'
import { insert, type Rows, readRows } from './insert.js'
import { killQueries } from './kill.js'
import type { QueryLog } from './query-log.js'
import type { Registry, Running } from './registry.js'
import { RunningQuery } from './running-query.js'
import { select } from './select.js'
import { type SessionState, withSessionState } from './session-state.js'
import { type Sessions, sessionTimeout } from './sessions.js'
import { isTrue, setStatement } from './settings.js'

/** The objects that all executions share. */
export type Services = {
  engine: Engine
  pipes: Pipes
  sessions: Sessions
  registry: Registry
  queryLog: QueryLog | undefined
}

export type Exchange = {
  queryId: string
  user: User
  request: IncomingMessage
  response: ServerResponse
  url: URLSearchParams
  body: Body
  reply: Reply
}

/** Executes the statement of one request, from reading its text to the end of the response. */
export class Execution implements Running {
  readonly queryId: string
  readonly user: User
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Set by the caller of `run`. */
  done: Promise<void> = Promise.resolve()
  readonly #services: Services
  readonly #exchange: Exchange
  #queryRequest: QueryRequest | undefined
  #query: RunningQuery | undefined
  #result: NativeResult | undefined
  #progress: Progress | undefined
  /** The text of a statement that was refused. */
  #refusedText = ''
  #database: string
  /** Undefined until the engine has parsed the statement, and if it cannot parse it. */
  #hasSecrets: boolean | undefined
  #stopReason: EngineError | undefined

  constructor(services: Services, exchange: Exchange) {
    this.#services = services
    this.#exchange = exchange
    this.queryId = exchange.queryId
    this.user = exchange.user
    this.request = exchange.request
    this.response = exchange.response
    this.#database = databaseOf(exchange.request, exchange.url) || 'default'
  }

  get mark(): string | undefined {
    return this.#query?.connection.mark
  }

  get text(): string | undefined {
    return this.#hasSecrets === false ? this.#queryRequest?.text.trim() : undefined
  }

  /** What is known about the execution so far. */
  get facts() {
    const queryRequest = this.#queryRequest
    return {
      text: queryRequest?.text ?? this.#refusedText,
      params: queryRequest?.params ?? {},
      settings: queryRequest?.settings ?? {},
      database: this.#database,
      hasStarted: this.#query !== undefined,
      hasSecrets: this.#hasSecrets,
      progress: this.#progress,
      figures: this.#figures,
    }
  }

  get #figures(): Figures {
    const isInsert = this.#queryRequest?.statement.kind === 'insert'
    return figuresOf(isInsert, this.#result, this.#progress, this.#exchange.reply.tail)
  }

  stop(reason: EngineError): void {
    this.#stopReason ??= reason
    this.#exchange.body.stop(reason)
    void this.#query?.cancel()
  }

  /** Runs the statement and sends its result. Throws EngineError, for the caller to send. */
  async run(): Promise<void> {
    const { request, url, body } = this.#exchange
    const queryRequest = await readQuery(request, url, body, this.#services.pipes, (text) => {
      this.#refusedText = text
    })
    this.#queryRequest = queryRequest
    try {
      await this.#run(queryRequest)
    } finally {
      await this.#services.pipes.removeFiles(queryRequest.externalTables)
    }
  }

  async #run(queryRequest: QueryRequest): Promise<void> {
    const { request, url, body, reply, user } = this.#exchange
    await assertRequestAllowed(user, this.#services.engine.verdicts, queryRequest)
    const rows = queryRequest.statement.kind === 'insert' ? await readRows(queryRequest.firstRows, body) : undefined
    const database = databaseOf(request, url)
    const sessionId = url.get('session_id')
    if (sessionId === '') {
      throw EngineError.of(744, 'SESSION_ID_EMPTY', 'Session id query parameter was provided, but it was empty')
    }
    if (sessionId !== null) {
      await this.#runInSession(sessionId, database, queryRequest, rows)
      // Ended only now, because the client may send the next request of the session as soon as it has this response.
      await reply.end()
      return
    }
    const connection = await this.#connect(database || 'default', queryRequest, rows)
    try {
      if (queryRequest.externalTables.length > 0) await this.#load(connection, queryRequest)
      // A user with readonly = 1 may not change settings either, not even with the request.
      if (user.readonly === 1) connection.runNow(setStatement({}, 1))
      const set = setStatement(queryRequest.settings, this.#readonly)
      if (set !== '') connection.runNow(set)
      await this.#runOn(connection, queryRequest, rows)
      await reply.end()
    } finally {
      await connection.close()
    }
  }

  async #runInSession(
    sessionId: string,
    database: string,
    queryRequest: QueryRequest,
    rows: Rows | undefined,
  ): Promise<void> {
    const { engine, sessions } = this.#services
    const { url, user } = this.#exchange
    // A session belongs to its user; other users may have sessions with the same id.
    const id = `${user.name}/${sessionId}`
    const timeoutS = sessionTimeout(url.get('session_timeout'))
    const connection = await sessions.take(id, url.get('session_check') === '1', async () => {
      const opened = await engine.connect(user, 'default')
      if (user.readonly > 0) opened.runNow(setStatement({}, user.readonly))
      return opened
    })
    const state: SessionState = { database, settings: queryRequest.settings }
    try {
      await withSessionState(connection, state, (current) => {
        this.#database = current
        return this.#withTables(connection, queryRequest, () => this.#runOn(connection, queryRequest, rows))
      })
    } finally {
      if (this.#stopReason || isTrue(url.get('close_session'))) await sessions.close(id)
      else sessions.release(id, timeoutS)
    }
  }

  get #isGet(): boolean {
    return this.#exchange.request.method !== 'POST'
  }

  /** The read level still to be set on the connection. For readonly = 1, it was set before the settings. */
  get #readonly(): number {
    const { readonly } = this.#exchange.user
    if (readonly === 1) return 0
    return readonly || (this.#isGet ? 2 : 0)
  }

  async #connect(database: string, { statement }: QueryRequest, rows: Rows | undefined): Promise<Connection> {
    const { engine } = this.#services
    const evaluates = await mayEvaluateRows({ user: this.user, engine }, statement, rows)
    return evaluates ? engine.connectToEvaluate(this.user, database) : engine.connect(this.user, database)
  }

  /** Loads external tables before the read level is set, which would refuse them. They end with the connection. */
  async #load(connection: Connection, { externalTables, settings: { readonly: _, ...settings } }: QueryRequest) {
    const set = setStatement(settings, 0)
    // Left out for users who may not change settings: their request is refused later.
    if (set !== '' && this.user.readonly !== 1) connection.runNow(set)
    await loadTables(this.#newQuery(connection), externalTables, [])
  }

  /** Loads external tables into a session, whose connection remains, and drops them after `use`. */
  async #withTables(connection: Connection, { externalTables }: QueryRequest, use: () => Promise<void>): Promise<void> {
    if (externalTables.length === 0) return use()
    const query = this.#newQuery(connection)
    const made: string[] = []
    try {
      await loadTables(query, externalTables, made)
      await use()
    } finally {
      for (const name of made) await dropTemporary(query, name).catch(() => undefined)
    }
  }

  #newQuery(connection: Connection): RunningQuery {
    const query = new RunningQuery(this.#services.engine, connection)
    this.#query = query
    if (this.#stopReason) void query.cancel()
    return query
  }

  async #runOn(connection: Connection, queryRequest: QueryRequest, rows: Rows | undefined): Promise<void> {
    const { engine } = this.#services
    const { reply } = this.#exchange
    const query = this.#newQuery(connection)
    const started = process.hrtime.bigint()
    const unwatch = engine.progress.watch(connection.mark, (progress) => {
      this.#progress = progress
      reply.progress(progress)
    })
    try {
      this.#result = await this.#execute(query, queryRequest, rows)
    } catch (error) {
      // The engine has one error for every cancellation; the actual reason is known here.
      throw this.#stopReason && query.isCancelled ? this.#stopReason : error
    } finally {
      unwatch()
    }
    reply.header('X-ClickHouse-Summary', summaryOf(this.#figures, this.#progress, process.hrtime.bigint() - started))
  }

  async #execute(query: RunningQuery, queryRequest: QueryRequest, rows: Rows | undefined): Promise<NativeResult> {
    const { engine, pipes, registry, queryLog } = this.#services
    const { reply, body, url, request } = this.#exchange
    const { params } = queryRequest
    const { statement } = queryRequest
    const defaultFormat = request.headers['x-clickhouse-format'] || url.get('default_format') || 'TabSeparated'
    const format = statement.format ?? String(defaultFormat)
    assertFormat(format, url.get('client_protocol_version'))
    for (const [name, value] of responseHeaders(queryRequest.settings, request.headers.origin))
      reply.header(name, value)
    const asker = { user: this.user, database: this.#database, engine, registry, classOf: this.#classOf }
    if (statement.kind === 'insert') {
      await admitInsert(asker, statement, params)
      return insert(query, pipes, statement, rows as Rows, body, params)
    }
    reply.header('X-ClickHouse-Format', format)
    reply.header('Content-Type', engine.contentType(format))
    if (/^JSON(Strings)?EachRowWithProgress$/i.test(format)) reply.sendProgressInRows()
    if (/^JSON/i.test(format)) reply.keepTail()
    if (statement.kind === 'other' && statement.isBackup) this.#assertNotReadOnly(queryRequest)
    const { admitted, queryClass } = await admit(asker, statement, format, params)
    if (admitted.kind === 'select' && queryClass !== 1) {
      try {
        return await select(query, pipes, admitted, format, params, reply)
      } catch (error) {
        // For a syntax error, the original text is run below, because its error is the one that a server gives.
        if (EngineError.from(error).code !== 62 || reply.hasBytes || queryClass !== 0) throw error
      }
    }
    if (isFlushOfLogs(admitted.sql)) await queryLog?.flush()
    const result =
      admitted.kind === 'kill'
        ? await killQueries(query.connection, admitted, this.user, registry, format, params)
        : await query.run(admitted.sql, format, params)
    await reply.write(result.bytes)
    return result
  }

  /** Refuses backups in readonly mode, in which the engine would run them. */
  #assertNotReadOnly({ settings }: QueryRequest): void {
    if (this.#isGet || this.user.readonly > 0 || (settings.readonly ?? '0') !== '0') throw readOnly()
  }

  readonly #classOf = async (sql: string, expected: readonly number[] | undefined): Promise<number> => {
    const found = await this.#services.engine.classify(sql)
    if (found.queryClass !== unparsed) this.#hasSecrets = found.hasSecrets
    assertRunnable(sql, found, { expected, isGet: this.#isGet })
    return found.queryClass
  }
}
