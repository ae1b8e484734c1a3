import type { ClickHouseClient } from '@clickhouse/client'
import { unixSeconds } from '../columns.js'
import { insertRows } from '../insert-rows.js'

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
  const rows = attempts.map(({ due_at, started_at, next_attempt_at, ...attempt }) => ({
    ...attempt,
    due_at: unixSeconds(due_at),
    started_at: unixSeconds(started_at),
    next_attempt_at: next_attempt_at && unixSeconds(next_attempt_at),
  }))
  return insertRows(clickhouse, 'webhook_attempts', rows, token)
}
