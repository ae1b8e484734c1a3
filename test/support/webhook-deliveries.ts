import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertWebhookAttempts, type WebhookAttempt } from '../../clickhouse/webhooks/attempts.js'

type AttemptKey = Pick<WebhookAttempt, 'delivery_id' | 'attempt' | 'subscription_id' | 'started_at'>

/** An attempt that was answered with 200, with the given fields replaced. */
export const attempt = (given: AttemptKey & Partial<WebhookAttempt>): WebhookAttempt => ({
  outcome: 'success',
  status: 200,
  error: '',
  response: 'ok',
  due_at: given.started_at,
  duration_ms: 12,
  next_attempt_at: null,
  instance: 'a test',
  ...given,
})

/** Records attempts as the dispatcher does. */
export const addAttempts = (clickhouse: ClickHouseClient, attempts: readonly WebhookAttempt[]): Promise<void> =>
  insertWebhookAttempts(clickhouse, attempts, randomUUID())
