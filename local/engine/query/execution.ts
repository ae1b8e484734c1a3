import type { IncomingMessage, ServerResponse } from 'node:http'
import { assertMayRun } from '../access/statements.js'
import type { User } from '../access/users.js'
import type { NativeResult } from '../engine/addon.js'
import type { Connection } from '../engine/connection.js'
import type { Engine } from '../engine/engine.js'
import { accessName } from '../engine/engine-config.js'
import { EngineError, notImplemented } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import type { Progress } from '../engine/progress.js'
import type { Body } from '../http/body.js'
import type { Reply } from '../http/reply.js'
import { type QueryRequest, readQuery } from '../http/request.js'
import { responseHeaders } from '../http/response-headers.js'
import { isKeyword, nextToken } from '../sql/lexer.js'
import { replaceProcesses } from '../sql/processes.js'
import { ownGrants } from '../sql/show-grants.js'
import { analyse, type Statement } from '../sql/statement.js'
import { assertRunnable, readOnly, unparsed } from './check.js'
import { dropTemporary, loadTables } from './external-tables.js'
import { type Figures, figuresOf, summaryOf } from './figures.js'
import { insert, type Rows, readRows } from './insert.js'
import { killQueries } from './kill.js'
import { processesOf } from './processes.js'
import type { QueryLog } from './query-log.js'
import type { Registry, Running } from './registry.js'
import { RunningQuery } from './running-query.js'
import { select } from './select.js'
import { type SessionState, withSessionState } from './session-state.js'
import { type Sessions, sessionTimeout } from './sessions.js'
import { isTrue, setStatement } from './settings.js'
import { mayEvaluate } from './values-format.js'

/** What all executions share. */
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

/** One request's statement, from the reading of its text to the end of its answer. */
export class Execution implements Running {
  readonly queryId: string
  readonly user: User
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Set by whoever runs it. */
  done: Promise<void> = Promise.resolve()
  readonly #services: Services
  readonly #exchange: Exchange
  #asked: QueryRequest | undefined
  #query: RunningQuery | undefined
  #result: NativeResult | undefined
  #progress: Progress | undefined
  /** What was sent instead of a statement that may run. */
  #refusedText = ''
  #database: string
  /** Undefined while nobody has looked, and when there is nothing that could be looked through. */
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
    return this.#hasSecrets === false ? this.#asked?.text.trim() : undefined
  }

  /** What is known of it so far. `asked` and `result` are undefined before there are any. */
  get facts() {
    const asked = this.#asked
    return {
      text: asked?.text ?? this.#refusedText,
      params: asked?.params ?? {},
      settings: asked?.settings ?? {},
      database: this.#database,
      hasStarted: this.#query !== undefined,
      hasSecrets: this.#hasSecrets,
      progress: this.#progress,
      figures: this.#figures,
    }
  }

  get #figures(): Figures {
    const isInsert = this.#asked?.statement.kind === 'insert'
    return figuresOf(isInsert, this.#result, this.#progress, this.#exchange.reply.tail)
  }

  stop(reason: EngineError): void {
    this.#stopReason ??= reason
    this.#exchange.body.stop(reason)
    void this.#query?.cancel()
  }

  /** Throws EngineError, while the reply can still tell it. */
  async run(): Promise<void> {
    const { request, url, body } = this.#exchange
    const asked = await readQuery(request, url, body, this.#services.pipes, (text) => {
      this.#refusedText = text
    })
    this.#asked = asked
    try {
      await this.#run(asked)
    } finally {
      await this.#services.pipes.removeFiles(asked.externalTables)
    }
  }

  async #run(asked: QueryRequest): Promise<void> {
    const { request, url, body, reply, user } = this.#exchange
    assertMayRun(user, asked.statement.kind === 'insert' ? asked.statement.head : asked.statement.sql)
    const rows = asked.statement.kind === 'insert' ? await readRows(asked.firstRows, body) : undefined
    const database = databaseOf(request, url)
    const sessionId = url.get('session_id')
    if (sessionId === '') {
      throw EngineError.of(744, 'SESSION_ID_EMPTY', 'Session id query parameter was provided, but it was empty')
    }
    if (sessionId !== null) {
      await this.#runInSession(sessionId, database, asked, rows)
      // Only now, as the next request of the session comes on the heels of this answer.
      await reply.end()
      return
    }
    const connection = await this.#connect(database || 'default', asked, rows)
    try {
      if (asked.externalTables.length > 0) await this.#load(connection, asked)
      // Whoever may only read may not change settings either, not even with the request.
      if (user.readonly === 1) connection.runNow(setStatement({}, 1))
      const set = setStatement(asked.settings, this.#readonly)
      if (set !== '') connection.runNow(set)
      await this.#runOn(connection, asked, rows)
      await reply.end()
    } finally {
      await connection.close()
    }
  }

  async #runInSession(sessionId: string, database: string, asked: QueryRequest, rows: Rows | undefined): Promise<void> {
    const { engine, sessions } = this.#services
    const { url, user } = this.#exchange
    // A session belongs to its user, whatever others call theirs.
    const id = `${user.name}/${sessionId}`
    const timeoutS = sessionTimeout(url.get('session_timeout'))
    const connection = await sessions.take(id, url.get('session_check') === '1', async () => {
      const opened = await engine.connect(user, 'default')
      if (user.readonly > 0) opened.runNow(setStatement({}, user.readonly))
      return opened
    })
    const state: SessionState = { database, settings: asked.settings }
    try {
      await withSessionState(connection, state, (current) => {
        this.#database = current
        return this.#withTables(connection, asked, () => this.#runOn(connection, asked, rows))
      })
    } finally {
      if (this.#stopReason || isTrue(url.get('close_session'))) await sessions.close(id)
      else sessions.give(id, timeoutS)
    }
  }

  get #isGet(): boolean {
    return this.#exchange.request.method !== 'POST'
  }

  /** What the connection is not told yet: a user who may only read is told before his settings. */
  get #readonly(): number {
    const { readonly } = this.#exchange.user
    if (readonly === 1) return 0
    return readonly || (this.#isGet ? 2 : 0)
  }

  /** With what the engine knows of everybody replaced by what it may tell this user. */
  #forUser(statement: Exclude<Statement, { kind: 'insert' }>): typeof statement {
    if (statement.kind === 'kill') return statement
    const own = ownGrants(statement.sql, statement.format, accessName(this.user))
    const sql = replaceProcesses(own, () => processesOf(this.user, this.#services.registry))
    return sql === statement.sql ? statement : (analyse(sql) as typeof statement)
  }

  #connect(database: string, { statement }: QueryRequest, rows: Rows | undefined): Promise<Connection> {
    const { engine } = this.#services
    const isValues = statement.kind === 'insert' && statement.format.toLowerCase() === 'values'
    if (isValues && rows?.isComplete && mayEvaluate(rows.data)) return engine.connectToEvaluate(this.user, database)
    return engine.connect(this.user, database)
  }

  /** Tables come before the read level, which would refuse them. The engine drops them with the connection. */
  async #load(connection: Connection, { externalTables, settings: { readonly: _, ...settings } }: QueryRequest) {
    const set = setStatement(settings, 0)
    // Not for a user who may change no setting, whose request will be refused.
    if (set !== '' && this.user.readonly !== 1) connection.runNow(set)
    await loadTables(this.#newQuery(connection), externalTables, [])
  }

  /** For a session, whose connection stays. */
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

  async #runOn(connection: Connection, asked: QueryRequest, rows: Rows | undefined): Promise<void> {
    const { engine } = this.#services
    const { reply } = this.#exchange
    const query = this.#newQuery(connection)
    const started = process.hrtime.bigint()
    const unwatch = engine.progress.watch(connection.mark, (progress) => {
      this.#progress = progress
      reply.progress(progress)
    })
    try {
      this.#result = await this.#execute(query, asked, rows)
    } catch (error) {
      // The engine words every cancellation the same; why it was cancelled is known here.
      throw this.#stopReason && query.isCancelled ? this.#stopReason : error
    } finally {
      unwatch()
    }
    reply.header('X-ClickHouse-Summary', summaryOf(this.#figures, this.#progress, process.hrtime.bigint() - started))
  }

  async #execute(query: RunningQuery, asked: QueryRequest, rows: Rows | undefined): Promise<NativeResult> {
    const { engine, pipes, registry, queryLog } = this.#services
    const { reply, body, url, request } = this.#exchange
    const { params } = asked
    let { statement } = asked
    const defaultFormat = request.headers['x-clickhouse-format'] || url.get('default_format') || 'TabSeparated'
    const format = statement.format ?? String(defaultFormat)
    assertFormat(format, url)
    for (const [name, value] of responseHeaders(asked.settings, request.headers.origin)) reply.header(name, value)
    if (statement.kind === 'insert') {
      // Class 3: a table function as the target, which the grants judge.
      await this.#check(`${statement.head} ${statement.tail}`, [1, 3, 4])
      return insert(query, pipes, statement, rows as Rows, body, params)
    }
    reply.header('X-ClickHouse-Format', format)
    reply.header('Content-Type', engine.contentType(format))
    if (/^JSON(Strings)?EachRowWithProgress$/i.test(format)) reply.tellProgressInRows()
    if (/^JSON/i.test(format)) reply.keepTail()
    // Class 1: WITH … INSERT … SELECT begins like a SELECT and has no rows.
    if (statement.kind === 'other' && statement.isBackup) this.#assertNotReadOnly(asked)
    const classes = (kind: Statement['kind']) => (kind === 'select' ? [0, 1, 4] : undefined)
    const queryClass = await this.#check(statement.sql, classes(statement.kind))
    const forUser = this.#forUser(statement)
    if (forUser !== statement) await this.#check(forUser.sql, classes(forUser.kind))
    statement = forUser
    if (statement.kind === 'select' && queryClass !== 1) {
      try {
        return await select(query, pipes, statement, format, params, reply)
      } catch (error) {
        // The text as it was sent gives the error that a server would give.
        if (EngineError.from(error).code !== 62 || reply.hasBytes || queryClass !== 0) throw error
      }
    }
    if (isFlushOfLogs(statement.sql)) await queryLog?.flush()
    const result =
      statement.kind === 'kill'
        ? await killQueries(query.connection, statement, this.user, registry, format, params)
        : await query.run(statement.sql, format, params)
    await reply.write(result.bytes)
    return result
  }

  /** The engine lets those who only read make backups and restore them. */
  #assertNotReadOnly({ settings }: QueryRequest): void {
    if (this.#isGet || this.user.readonly > 0 || (settings.readonly ?? '0') !== '0') throw readOnly()
  }

  async #check(sql: string, expected: readonly number[] | undefined): Promise<number> {
    const found = await this.#services.engine.classify(sql)
    if (found.queryClass !== unparsed) this.#hasSecrets = found.hasSecrets
    assertRunnable(sql, found, { expected, isGet: this.#isGet })
    return found.queryClass
  }
}

const isFlushOfLogs = (sql: string) =>
  isKeyword(sql, nextToken(sql, 0), 'SYSTEM') && /^SYSTEM\s+FLUSH\s+LOGS\b/i.test(sql.slice(nextToken(sql, 0)?.start))

const databaseOf = (request: IncomingMessage, url: URLSearchParams) =>
  String(request.headers['x-clickhouse-database'] || url.get('database') || '')

/** A client that names its protocol expects Native with fields that the engine, which knows no protocol, leaves out. */
function assertFormat(format: string, url: URLSearchParams): void {
  if (format.toLowerCase() === 'native' && Number(url.get('client_protocol_version')) > 0) {
    throw notImplemented('The format Native is not supported with a client_protocol_version')
  }
}
