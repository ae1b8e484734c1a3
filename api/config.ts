import { z } from 'zod'
import { clickhouseEnv } from '../clickhouse/env.js'
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
  PORT: envInt(0, 65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  REDIS_URL: envUrl('redis', 'rediss').optional(),
  SUBSCRIPTION_KEYS: subscriptionKeys.default([]),
  LOG_LEVEL: logLevel,
})
export type ApiConfig = z.infer<typeof ApiConfig>
