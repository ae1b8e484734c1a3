import { z } from 'zod'
import { type ClickHouseEnv, clickhouseEnv } from '../clickhouse/env.js'
import { envInt, envUrl, logLevel } from '../domain/parse-env.js'

/** Shorter keys could be guessed. */
const SHORTEST_KEY = 32

/** Keys, separated by commas. The message must not have them: it is logged. */
const subscriptionKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .refine(
    (keys) => keys.every((key) => /^[\x21-\x7e]+$/.test(key) && key.length >= SHORTEST_KEY),
    `must be keys of at least ${SHORTEST_KEY} printable ASCII characters without spaces, separated by commas`,
  )

/** What the API reads from its environment. */
export const ApiConfig = z.object({
  ...clickhouseEnv,
  CLICKHOUSE_RECORDS_USER: z.string().optional(),
  CLICKHOUSE_RECORDS_PASSWORD: z.string().default(''),
  PORT: envInt(0, 65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  REDIS_URL: envUrl('redis', 'rediss').optional(),
  SUBSCRIPTION_KEYS: subscriptionKeys.default([]),
  LOG_LEVEL: logLevel,
})
export type ApiConfig = z.infer<typeof ApiConfig>

/** Where the API writes what it keeps itself, by a user of its own where one is named. */
export const recordsEnv = (config: ApiConfig): ClickHouseEnv =>
  config.CLICKHOUSE_RECORDS_USER === undefined
    ? config
    : {
        ...config,
        CLICKHOUSE_USER: config.CLICKHOUSE_RECORDS_USER,
        CLICKHOUSE_PASSWORD: config.CLICKHOUSE_RECORDS_PASSWORD,
      }
