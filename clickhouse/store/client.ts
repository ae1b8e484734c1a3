import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { ClickHouseEnv } from './env.js'

/** How long a session may be idle before the server forgets it; the longest that a server allows by default. */
const SESSION_SECONDS = '3600'

/**
 * A client for the configured server and database. The caller closes it.
 * 64-bit integers and decimals come as strings, times as ISO 8601 in UTC, so that nothing is rounded on the way.
 */
export function connect(
  env: ClickHouseEnv,
  options: { application: string; maxOpenConnections?: number; requestTimeoutMs?: number; sessionId?: string },
): ClickHouseClient {
  return createClient({
    url: env.CLICKHOUSE_URL,
    username: env.CLICKHOUSE_USER,
    password: env.CLICKHOUSE_PASSWORD,
    database: env.CLICKHOUSE_DATABASE,
    application: options.application,
    max_open_connections: options.maxOpenConnections ?? 10,
    request_timeout: options.requestTimeoutMs ?? 30_000,
    ...(options.sessionId && { session_id: options.sessionId }),
    // Every failure reaches the caller as an error; the client's own log would print it a second time.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      date_time_output_format: 'iso',
      ...(options.sessionId && { session_timeout: SESSION_SECONDS }),
    },
  })
}
