import { z } from 'zod'
import { clickhouseEnv } from '../clickhouse/env.js'
import { envInt, envUrl, logLevel } from '../domain/parse-env.js'

/** What the API reads from its environment. */
export const ApiConfig = z.object({
  ...clickhouseEnv,
  PORT: envInt(0, 65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  REDIS_URL: envUrl('redis', 'rediss').optional(),
  LOG_LEVEL: logLevel,
})
export type ApiConfig = z.infer<typeof ApiConfig>
