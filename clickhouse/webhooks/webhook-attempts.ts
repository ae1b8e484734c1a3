import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import { unixSeconds } from '../store/values.js'

/** How an attempt ended; the columns are described in the migration. */
export type WebhookAttempt = {
  delivery_id: number
  attempt: number
  subscription_id: string
  outcome: 'success' | 'failure' | 'canceled'
  status: number
  error: string
  response: string
  due_at: Date
  started_at: Date
  duration_ms: number
  next_attempt_at: Date | null
  instance: string
}

/** Records attempts. `token` names the batch. */
export function insertWebhookAttempts(
  clickhouse: ClickHouseClient,
  attempts: readonly WebhookAttempt[],
  token: string,
): Promise<void> {
  // Field by field: there are thousands a second, and to take objects apart would cost several times as much.
  const rows = attempts.map((attempt) => ({
    delivery_id: attempt.delivery_id,
    attempt: attempt.attempt,
    subscription_id: attempt.subscription_id,
    outcome: attempt.outcome,
    status: attempt.status,
    error: attempt.error,
    response: attempt.response,
    due_at: unixSeconds(attempt.due_at),
    started_at: unixSeconds(attempt.started_at),
    duration_ms: attempt.duration_ms,
    next_attempt_at: attempt.next_attempt_at && unixSeconds(attempt.next_attempt_at),
    instance: attempt.instance,
  }))
  return insertRows(clickhouse, 'webhook_attempts', rows, token)
}
