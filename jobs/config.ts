import { z } from 'zod'
import { LATE_PERIODS } from '../clickhouse/jobs/periods.js'
import { clickhouseEnv } from '../clickhouse/store/client.js'
import { WEBHOOK_SITE_URL, webhookEnv } from '../clickhouse/webhooks/targets.js'
import { envInt, envUrl, logLevel } from '../process/environment.js'
import { metricsEnv, metricsPort } from '../process/metrics-access.js'
import { secretsKey } from '../process/sealed-secret.js'

/** The environment variables of the jobs. */
export const JobsConfig = z.object({
  ...clickhouseEnv,
  REDIS_URL: envUrl('redis', 'rediss').optional(),
  SECRETS_KEY: secretsKey.optional(),
  JOBS_LEASE_SECONDS: envInt(1, 300).default(15),
  JOB_SLOT_SECONDS: envInt(1, 3600).default(120),
  BACKFILL_QUIET_SECONDS: envInt(1, 86_400).default(60),
  HEALTH_MAX_LAG_SECONDS: envInt(1, 86_400).default(180),
  HEALTH_MAX_SAMPLING_LAG_SECONDS: envInt(1, 86_400).default(180),
  HEALTH_MAX_LATE_PERIODS: envInt(1, 1000).default(LATE_PERIODS),
  HEALTH_MAX_MISSING_BLOCKS: envInt(0, 1_000_000_000).default(0),
  ...webhookEnv,
  WEBHOOK_SITE_URL,
  PUBLIC_URL: envUrl('http', 'https').optional(),
  WEBHOOK_MAX_EVENT_AGE_HOURS: envInt(1, 8760).default(24),
  WEBHOOK_MAX_IN_FLIGHT: envInt(1, 20_000).default(2000),
  WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT: envInt(1, 1000).default(32),
  WEBHOOK_DISABLE_AFTER_HOURS: envInt(1, 8760).default(120),
  ...metricsEnv,
  JOBS_METRICS_PORT: metricsPort,
  LOG_LEVEL: logLevel,
})
export type JobsConfig = z.infer<typeof JobsConfig>
