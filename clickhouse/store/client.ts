import { Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { z } from 'zod'
import { envUrl } from '../../process/environment.js'
import { knowReplicas, type Reads, TOPOLOGIES, type Topology } from './replicas.js'
import { FIXED_SETTINGS } from './settings.js'

/** How long a session may be idle before the server forgets it; the longest that a server allows by default. */
const SESSION_SECONDS = '3600'

/**
 * A client for the configured server and database. The caller closes it. 64-bit integers and decimals are returned as
 * strings and times as ISO 8601 in UTC, so that nothing is rounded.
 */
export function connect(
  env: ClickHouseEnv,
  options: {
    application: string
    maxOpenConnections?: number
    requestTimeoutMs?: number
    sessionId?: string
    /** Sends parameters that are too long for a URL in the body. */
    sendsLargeParameters?: true
    /** What reads must see where there are replicas; `current` if omitted. */
    reads?: Reads
  },
): ClickHouseClient {
  const topology = env.CLICKHOUSE_TOPOLOGY ?? 'single'
  const clickhouse = createClient({
    url: env.CLICKHOUSE_URL,
    username: env.CLICKHOUSE_USER,
    password: env.CLICKHOUSE_PASSWORD,
    database: env.CLICKHOUSE_DATABASE,
    application: options.application,
    max_open_connections: options.maxOpenConnections ?? 10,
    request_timeout: options.requestTimeoutMs ?? 30_000,
    ...(options.sessionId && { session_id: options.sessionId }),
    ...(options.sendsLargeParameters && { use_multipart_params_auto: true }),
    // Every failure reaches the caller as an error; the client's own log would print it a second time.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      ...FIXED_SETTINGS,
      ...(options.sessionId && { session_timeout: SESSION_SECONDS }),
      // A replica that is down makes a change of the schema when it is back.
      ...(topology === 'replicated' && { distributed_ddl_output_mode: 'throw_only_active' as 'throw' }),
      // There a server fetches what it lacks when it is asked; elsewhere this shows only what was inserted with a quorum.
      ...(topology === 'cloud' && { select_sequential_consistency: '1' }),
    },
  })
  refuseForeignAnswers(clickhouse)
  knowReplicas(clickhouse, topology, options.reads ?? 'current')
  return clickhouse
}

type Headers = Readonly<Record<string, unknown>>

/** An answer with a status of success that is not of ClickHouse. */
class ForeignAnswerError extends Error {
  constructor(headers: Headers) {
    super(
      `the answer is not from ClickHouse: it has no header x-clickhouse-query-id (content-type ${headers['content-type'] ?? 'missing'})`,
    )
  }
}

/**
 * Makes a client refuse what a gateway answers in place of the server. A page of its own with status 200 would be read as no
 * rows, and as rows that were stored.
 */
function refuseForeignAnswers(clickhouse: ClickHouseClient): void {
  const checked =
    <Params, Result extends { response_headers: Headers }>(send: (params: Params) => Promise<Result>) =>
    async (params: Params): Promise<Result> => {
      const result = await send(params)
      const isSent = !('executed' in result) || result.executed === true
      if (isSent && !('x-clickhouse-query-id' in result.response_headers)) {
        // A body that nobody reads keeps its connection.
        if ('close' in result && typeof result.close === 'function') result.close()
        if ('stream' in result && result.stream instanceof Readable) result.stream.destroy()
        throw new ForeignAnswerError(result.response_headers)
      }
      return result
    }
  clickhouse.query = checked(clickhouse.query.bind(clickhouse)) as typeof clickhouse.query
  clickhouse.exec = checked(clickhouse.exec.bind(clickhouse)) as typeof clickhouse.exec
  clickhouse.command = checked(clickhouse.command.bind(clickhouse))
  clickhouse.insert = checked(clickhouse.insert.bind(clickhouse)) as typeof clickhouse.insert
}

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be an identifier: letters, digits and underscores')

/** The variables of every process that talks to ClickHouse, to be spread into its own schema. */
export const clickhouseEnv = {
  CLICKHOUSE_URL: envUrl('http', 'https').default('http://127.0.0.1:8123'),
  CLICKHOUSE_USER: z.string().default('default'),
  CLICKHOUSE_PASSWORD: z.string().default(''),
  CLICKHOUSE_DATABASE: name.default('plumbline'),
  CLICKHOUSE_TOPOLOGY: z.enum(TOPOLOGIES).default('single'),
}

/** What those variables parse to. */
export type ClickHouseEnv = {
  CLICKHOUSE_URL: string
  CLICKHOUSE_USER: string
  CLICKHOUSE_PASSWORD: string
  CLICKHOUSE_DATABASE: string
  /** `single` if omitted. */
  CLICKHOUSE_TOPOLOGY?: Topology
}
