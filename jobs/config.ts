import { z } from 'zod'
import { clickhouseEnv } from '../clickhouse/env.js'
import { envInt, logLevel } from '../domain/parse-env.js'

/** What the jobs read from their environment. */
export const JobsConfig = z.object({
  ...clickhouseEnv,
  HEALTH_MAX_LAG_SECONDS: envInt(1, 86_400).default(180),
  LOG_LEVEL: logLevel,
})
export type JobsConfig = z.infer<typeof JobsConfig>
