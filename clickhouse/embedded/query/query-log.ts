import { hostname } from 'node:os'
import type { Connection } from '../engine/connection.js'
import type { Pipes } from '../engine/pipes.js'
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
  query_kind: 'LowCardinality(String)',
  exception_code: 'Int32',
  exception: 'String',
  is_initial_query: 'UInt8 DEFAULT 1',
  user: 'LowCardinality(String)',
  query_id: 'String',
  address: 'IPv6',
  http_method: 'UInt8',
  http_user_agent: 'LowCardinality(String)',
  log_comment: 'String',
  Settings: 'Map(LowCardinality(String), LowCardinality(String))',
  query_parameters: 'Map(LowCardinality(String), String)',
}

/** A row of system.query_log; what is left out has its default. Times are milliseconds since 1970. */
export type QueryLogEntry = {
  type: 'QueryFinish' | 'ExceptionBeforeStart' | 'ExceptionWhileProcessing'
  endMs: number
  startMs: number
  read_rows: number
  read_bytes: number
  written_rows: number
  written_bytes: number
  result_rows: number
  result_bytes: number
  memory_usage: number
  current_database: string
  query: string
  query_kind: string
  exception_code: number
  exception: string
  user: string
  query_id: string
  address: string
  /** As on a server: 1 GET, 2 POST. */
  http_method: 1 | 2
  http_user_agent: string
  log_comment: string
  Settings: Record<string, string>
  query_parameters: Record<string, string>
}

const flushMs = 7_500
const flushRows = 1_000
/** Rows that wait while the engine cannot take them. More are dropped, and that is said. */
const maxWaiting = 50_000

/**
 * The log of queries, which the engine itself does not keep: the table server_log.query_log, to be read as
 * system.query_log. Rows are written in batches, off the way of queries, and expire.
 */
export class QueryLog {
  readonly #connection: Connection
  readonly #pipes: Pipes
  readonly #say: (line: string) => void
  #waiting: QueryLogEntry[] = []
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #flush: Promise<void> = Promise.resolve()

  private constructor(connection: Connection, pipes: Pipes, say: (line: string) => void) {
    this.#connection = connection
    this.#pipes = pipes
    this.#say = say
  }

  /** Makes the table and the view. A table with other columns is renamed away, as a server does it. */
  static async open(
    connection: Connection,
    pipes: Pipes,
    days: number,
    say: (line: string) => void,
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
    return new QueryLog(connection, pipes, say)
  }

  record(entry: QueryLogEntry): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#dropped++
      return
    }
    this.#waiting.push(entry)
    if (this.#waiting.length >= flushRows) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref()
  }

  /** Resolves when everything recorded before is in the table, or has failed to get there. */
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

  async #write(): Promise<void> {
    const entries = this.#waiting
    if (entries.length === 0) return
    this.#waiting = []
    const rows = Buffer.from(entries.map((entry) => JSON.stringify(rowOf(entry))).join('\n'))
    try {
      await this.#pipes.withFile(rows, (path) =>
        this.#connection.run(
          `INSERT INTO server_log.query_log (${insertColumns}) FROM INFILE ${quoteString(path)} COMPRESSION 'none' FORMAT JSONEachRow`,
        ),
      )
      if (this.#dropped > 0) this.#say(`query log: ${this.#dropped} rows were dropped while it could not be written`)
      this.#dropped = 0
    } catch (error) {
      // They are tried again with the next ones, unless too many wait.
      this.#say(`query log: ${error instanceof Error ? error.message : error}`)
      this.#waiting = [...entries, ...this.#waiting].slice(0, maxWaiting)
      this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref()
    }
  }
}

function rowOf({ endMs, startMs, ...entry }: QueryLogEntry) {
  return {
    ...entry,
    hostname: hostname(),
    event_time_microseconds: (endMs / 1000).toFixed(6),
    query_start_time_microseconds: (startMs / 1000).toFixed(6),
    query_duration_ms: Math.round(endMs - startMs),
  }
}

const computed = ['event_date', 'event_time', 'query_start_time', 'is_initial_query']
const insertColumns = Object.keys(columns)
  .filter((name) => !computed.includes(name))
  .join(', ')
