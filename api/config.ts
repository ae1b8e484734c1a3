import { z } from 'zod'
import { type ClickHouseEnv, clickhouseEnv } from '../clickhouse/store/client.js'
import { webhookEnv } from '../clickhouse/webhooks/targets.js'
import { envInt, envNumber, envUrl, logLevel } from '../process/environment.js'
import { parseIpNetwork } from '../process/ip-networks.js'
import { metricsAccess } from '../process/metrics-access.js'
import { secretsKey } from '../process/sealed-secret.js'
import { paymentEnv } from './callers/payments/env.js'
import { KEEP_ALIVE_SECONDS } from './http/connection-limits.js'

/** Shorter keys could be guessed. */
const SHORTEST_KEY = 32

/** The message must not contain the key, because it is logged. */
const adminKey = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII characters without spaces')
  .min(SHORTEST_KEY, `must have at least ${SHORTEST_KEY} characters`)

/** Not a number of proxies: with that, a client that bypasses them could claim any address. */
const trustProxy = z
  .string()
  .transform((text) => text.split(',').map((network) => network.trim()))
  .refine(
    (networks) => networks.every((network) => parseIpNetwork(network) !== null),
    'must be IP addresses and CIDR networks, separated by commas',
  )

/** The API's environment variables. */
export const ApiConfig = z
  .object({
    ...clickhouseEnv,
    CLICKHOUSE_READ_URL: envUrl('http', 'https').optional(),
    CLICKHOUSE_RECORDS_USER: z.string().optional(),
    CLICKHOUSE_RECORDS_PASSWORD: z.string().default(''),
    PORT: envInt(0, 65_535).default(3000),
    HOST: z.string().default('127.0.0.1'),
    REDIS_URL: envUrl('redis', 'rediss').optional(),
    ADMIN_API_KEY: adminKey.optional(),
    SECRETS_KEY: secretsKey.optional(),
    FREE_REQUESTS_PER_MINUTE: envInt(0, 1_000_000_000).default(600),
    KEY_REQUESTS_PER_MINUTE: envInt(0, 1_000_000).default(0),
    TRUST_PROXY: trustProxy.default([]),
    KEEP_ALIVE_SECONDS: envInt(1, 3600).default(KEEP_ALIVE_SECONDS),
    MAX_EVENT_LOOP_DELAY_MS: envInt(0, 60_000).default(1000),
    CACHE_MEMORY_MB: envInt(0, 65_536).default(64),
    METRICS: metricsAccess.default('loopback'),
    LOG_REQUESTS: envNumber(0, 1).default(0.01),
    DRAIN_NOTICE_SECONDS: envInt(0, 300).default(0),
    DRAIN_SECONDS: envInt(1, 900).default(10),
    STREAM_CONNECTIONS: envInt(1, 100_000).default(1000),
    STREAM_CONNECTIONS_PER_ADDRESS: envInt(1, 100_000).default(10),
    STREAM_CONNECTIONS_PER_KEY: envInt(1, 100_000).default(100),
    ...webhookEnv,
    WEBHOOK_MAX_SUBSCRIPTIONS: envInt(1, 100_000).default(1000),
    ...paymentEnv,
    /** Ingest's variable: payments use its first node if they have none of their own. */
    RPC_URL: z.string().optional(),
    LOG_LEVEL: logLevel,
  })
  .refine((config) => config.CLICKHOUSE_READ_URL === undefined || config.CLICKHOUSE_TOPOLOGY !== 'single', {
    path: ['CLICKHOUSE_READ_URL'],
    message: 'needs CLICKHOUSE_TOPOLOGY=replicated or cloud: a single server has no replica to read from',
  })
export type ApiConfig = z.infer<typeof ApiConfig>

/** Where the API reads: from a replica that may lag, if one is set. */
export const readsEnv = (config: ApiConfig): ClickHouseEnv => ({
  ...config,
  CLICKHOUSE_URL: config.CLICKHOUSE_READ_URL ?? config.CLICKHOUSE_URL,
})

/** Where the API writes its own records, with a separate user if one is set. */
export const recordsEnv = (config: ApiConfig): ClickHouseEnv =>
  config.CLICKHOUSE_RECORDS_USER === undefined
    ? config
    : {
        ...config,
        CLICKHOUSE_USER: config.CLICKHOUSE_RECORDS_USER,
        CLICKHOUSE_PASSWORD: config.CLICKHOUSE_RECORDS_PASSWORD,
      }
