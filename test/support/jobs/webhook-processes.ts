import type { ClickHouseEnv } from '../../../clickhouse/store/client.js'
import type { IngestProcess } from '../ingest.js'
import { SECRETS_KEY } from '../webhook-subscriptions.js'
import { startJobs } from './process.js'

/** Starts a compiled jobs process that only sends webhooks, to this machine. */
export const startWebhooks = (clickhouse: ClickHouseEnv, env: Record<string, string> = {}): IngestProcess =>
  startJobs(
    clickhouse,
    {
      JOBS: 'webhooks',
      SECRETS_KEY: SECRETS_KEY.toString('base64url'),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      WEBHOOK_ALLOWED_PORTS: 'any',
      ...env,
    },
    [],
  )
