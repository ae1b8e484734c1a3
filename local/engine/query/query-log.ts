import { hostname } from 'node:os'
import type { Connection } from '../engine/connection.js'
import type { Pipes } from '../engine/pipes.js'
import type { ClientFacts } from './client-facts.js'
import type { Figures } from './figures.js'
import { quoteString } from './settings.js'

const columns = {
  hostname: 'LowCardinality(String)',
  type: "Enum8('QueryStart' = 1, 'QueryFinish' = 2, 'ExceptionBeforeStart' = 3, 'ExceptionWhileProcessing' = 4)",
  event_date: 'Date DEFAULT toDate(event_time)',
  event_time: 'DateTime DEFAULT toDateTime(event_time_microseconds)',
  event_time_microseconds: 'DateTime64(6)',
  query_start_time: 'DateTime DEFAULT toDateTime(query_start_time_microseconds)',
  query_start_time_microseconds: 'DateTime64(6)',
  query_duration_ms: 'UInt64',
  read_rows: 'UInt64',
  read_bytes: 'UInt64',
  written_rows: 'UInt64',
  written_bytes: 'UInt64',
  result_rows: 'UInt64',
  result_bytes: 'UInt64',
  memory_usage: 'UInt64',
  current_database: 'LowCardinality(String)',
  query: 'String',
  normalized_query_hash: 'UInt64 DEFAULT normalizedQueryHash(query)',
  query_kind: 'LowCardinality(String)',
  exception_code: 'Int32',
  exception: 'String',
  is_initial_query: 'UInt8 DEFAULT 1',
  user: 'LowCardinality(String)',
  query_id: 'String',
  address: 'IPv6',
  port: 'UInt16',
  initial_user: 'LowCardinality(String) DEFAULT user',
  initial_query_id: 'String DEFAULT query_id',
  interface: 'UInt8 DEFAULT 2',
  http_method: 'UInt8',
  http_user_agent: 'LowCardinality(String)',
  http_referer: 'String',
  forwarded_for: 'String',
  log_comment: 'String',
  Settings: 'Map(LowCardinality(String), LowCardinality(String))',
  query_parameters: 'Map(LowCardinality(String), String)',
}

/** A row of system.query_log; the other columns have defaults. Times are milliseconds since 1970. */
export type QueryLogEntry = Figures &
  ClientFacts & {
    type: 'QueryFinish' | 'ExceptionBeforeStart' | 'ExceptionWhileProcessing'
    endMs: number
    startMs: number
    memory_usage: number
    current_database: string
    query: string
    query_kind: string
    exception_code: number
    exception: string
    user: string
    query_id: string
    log_comment: string
    Settings: Record<string, string>
    query_parameters: Record<string, string>
  }

const flushMs = 7_500
const flushRows = 1_000
/** Approximate bytes of waiting text after which rows are written early. */
const flushBytes = 4 * 1024 * 1024
/**
 * Most text that waits while the engine cannot write it. Beyond this, entries are dropped, and their number is logged.
 */
const maxWaitingBytes = 32 * 1024 * 1024

/**
 * The query log, which the engine itself does not have: the table server_log.query_log, with the view system.query_log.
 * Rows are written in the background, in batches, and expire.
 */
export class QueryLog {
  readonly #connection: Connection
  readonly #pipes: Pipes
  readonly #log: (line: string) => void
  #waiting: QueryLogEntry[] = []
  #waitingBytes = 0
  #dropped = 0
  #isWriting = false
  #isRetry = false
  #timer: NodeJS.Timeout | undefined
  #flush: Promise<void> = Promise.resolve()

  private constructor(connection: Connection, pipes: Pipes, log: (line: string) => void) {
    this.#connection = connection
    this.#pipes = pipes
    this.#log = log
  }

  /** Creates the table and the view. A table with other columns is renamed, as a server does. */
  static async open(
    connection: Connection,
    pipes: Pipes,
    days: number,
    log: (line: string) => void,
  ): Promise<QueryLog> {
    const run = (sql: string) => connection.run(sql)
    const definition = Object.entries(columns)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')
    const ttl = `event_date + INTERVAL ${days} DAY`
    const version = quoteString(`columns: ${definition}`)
    await run('CREATE DATABASE IF NOT EXISTS server_log')
    const found = await run(
      `SELECT comment != ${version} FROM system.tables WHERE database = 'server_log' AND name = 'query_log'`,
    )
    if (found.bytes.toString().trim() === '1') {
      await run(`RENAME TABLE server_log.query_log TO server_log.query_log_${Date.now()}`)
    }
    await run(
      `CREATE TABLE IF NOT EXISTS server_log.query_log (${definition}) ENGINE = MergeTree PARTITION BY toYYYYMM(event_date) ` +
        `ORDER BY (event_date, event_time) TTL ${ttl} SETTINGS ttl_only_drop_parts = 0 COMMENT ${version}`,
    )
    await run(`ALTER TABLE server_log.query_log MODIFY TTL ${ttl} SETTINGS materialize_ttl_after_modify = 0`)
    await run('CREATE VIEW IF NOT EXISTS system.query_log AS SELECT * FROM server_log.query_log')
    return new QueryLog(connection, pipes, log)
  }

  record(entry: QueryLogEntry): void {
    const bytes = sizeOf(entry)
    if (this.#waitingBytes + bytes > maxWaitingBytes) {
      this.#dropped++
      return
    }
    this.#waiting.push(entry)
    this.#waitingBytes += bytes
    if (this.#isFull && !this.#isWriting && !this.#isRetry) void this.flush()
    else this.#schedule()
  }

  /** Resolves when all entries recorded before are in the table or could not be written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#flush = this.#flush.then(() => this.#write())
    return this.#flush
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#connection.close()
  }

  get #isFull(): boolean {
    return this.#waiting.length >= flushRows || this.#waitingBytes >= flushBytes
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref()
  }

  async #write(): Promise<void> {
    const entries = this.#waiting
    if (entries.length === 0) return
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isWriting = true
    const rows = Buffer.from(entries.map((entry) => JSON.stringify(rowOf(entry))).join('\n'))
    try {
      await this.#pipes.withFile(rows, (path) =>
        this.#connection.run(
          `INSERT INTO server_log.query_log (${insertColumns}) FROM INFILE ${quoteString(path)} COMPRESSION 'none' FORMAT JSONEachRow`,
        ),
      )
      this.#isRetry = false
    } catch (error) {
      this.#log(`query log: cannot write rows: ${error instanceof Error ? error.message : error}`)
      this.#keepOrDrop(entries)
    } finally {
      this.#isWriting = false
    }
    if (this.#dropped > 0) this.#log(`query log: ${this.#dropped} rows were dropped`)
    this.#dropped = 0
  }

  /**
   * Retries the entries once, with the next ones. Entries that fail twice are dropped, so that they do not block
   * others.
   */
  #keepOrDrop(entries: QueryLogEntry[]): void {
    if (this.#isRetry) this.#dropped += entries.length
    else {
      this.#waiting = [...entries, ...this.#waiting]
      this.#waitingBytes = this.#waiting.reduce((sum, entry) => sum + sizeOf(entry), 0)
      this.#schedule()
    }
    this.#isRetry = !this.#isRetry
  }
}

/** Approximate size in bytes. */
const sizeOf = ({ query, exception, Settings, query_parameters }: QueryLogEntry) =>
  query.length + exception.length + textIn(Settings) + textIn(query_parameters) + 1_000
const textIn = (values: Record<string, string>) =>
  Object.entries(values).reduce((sum, [name, value]) => sum + name.length + value.length, 0)

function rowOf({ endMs, startMs, ...entry }: QueryLogEntry) {
  return {
    ...entry,
    hostname: hostname(),
    event_time_microseconds: (endMs / 1000).toFixed(6),
    query_start_time_microseconds: (startMs / 1000).toFixed(6),
    query_duration_ms: Math.round(endMs - startMs),
  }
}

const insertColumns = Object.entries(columns)
  .flatMap(([name, type]) => (type.includes(' DEFAULT ') ? [] : [name]))
  .join(', ')
