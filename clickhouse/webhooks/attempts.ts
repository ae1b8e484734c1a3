import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime, safeInteger, unixSeconds } from '../store/values.js'

/** How one of the attempts of a delivery ended. A canceled one was not sent. */
export const COUNTED_OUTCOMES = ['success', 'failure', 'canceled'] as const

/** Also refused: the receiver answered 429. That was not an attempt, and the delivery is sent again with the same number. */
export const ATTEMPT_OUTCOMES = [...COUNTED_OUTCOMES, 'refused'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** An attempt; the columns are described in clickhouse/schema. */
export type WebhookAttempt = {
  delivery_id: number
  attempt: number
  subscription_id: string
  outcome: AttemptOutcome
  status: number
  error: string
  response: string
  due_at: Date
  started_at: Date
  duration_ms: number
  next_attempt_at: Date | null
  instance: string
}

/** The SQL expression of when a delivery is attempted next, aggregated over its attempts; null if it is over. */
export const NEXT_ATTEMPT_AT = 'argMax(tuple(next_attempt_at), (attempt, started_at)).1'

/** Records attempts. `token` identifies the batch. */
export function insertWebhookAttempts(
  clickhouse: ClickHouseClient,
  attempts: readonly WebhookAttempt[],
  token: string,
): Promise<void> {
  // Field by field: there are thousands per second, and destructuring would cost several times as much.
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

/**
 * The unfinished deliveries, except held ones, with `from` <= number <= `until`, by number, at most `limit`: the number of the next
 * attempt, when it is due, in unix milliseconds, and whether the last one was refused. Does not read their contents.
 */
export const pendingDeliveries = defineQuery({
  name: 'pending_deliveries',
  params: z.object({ from: z.int(), until: z.int(), limit: z.int() }),
  row: z.object({
    delivery_id: safeInteger,
    subscription_id: z.string(),
    attempt: z.int(),
    due_ms: safeInteger,
    is_refused: z.boolean(),
    incidents: z.array(z.string()),
  }),
  sql: `
    SELECT delivery_id, subscription_id, made + 1 AS attempt, toBool(last_outcome = 'refused') AS is_refused, incidents,
           toUnixTimestamp64Milli(ifNull(next_at, recorded_at)) AS due_ms
    FROM webhook_deliveries
    LEFT JOIN (
      SELECT delivery_id, maxIf(attempt, outcome != 'refused') AS made, toString(argMax(outcome, (attempt, started_at))) AS last_outcome,
             ${NEXT_ATTEMPT_AT} AS next_at
      FROM webhook_attempts WHERE delivery_id >= {from: UInt64} AND delivery_id <= {until: UInt64}
      GROUP BY delivery_id
    ) AS attempts USING (delivery_id)
    WHERE delivery_id >= {from: UInt64} AND delivery_id <= {until: UInt64} AND kind != 'held' AND (last_outcome = '' OR next_at IS NOT NULL)
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})

/**
 * A subquery for the time of each subscription's newest attempt with each outcome, of those that meet a condition. The
 * engine keeps this beside the rows, as long as it is asked for in these words (clickhouse/schema/0012_webhooks.sql).
 */
export const newestAttempts = (condition = '1'): string => `
    (SELECT subscription_id, outcome, max(started_at) AS newest FROM webhook_attempts WHERE ${condition} GROUP BY subscription_id, outcome)`

/**
 * The enabled subscriptions whose attempts have all failed since their last success or change: the time of the first of
 * these failures and their number. Reads attempts only since the oldest of these times.
 */
export const failingSubscriptions = defineQuery({
  name: 'failing_subscriptions',
  row: z.object({ subscription_id: z.string(), since: dateTime, failures: z.int() }),
  sql: `
    WITH failing AS
    (
        SELECT subscription_id, greatest(succeeded_at, changed_at) AS sound_at
        FROM
        (
            SELECT subscription_id, maxIf(newest, outcome = 'success') AS succeeded_at, maxIf(newest, outcome IN ('failure', 'refused')) AS failed_at
            FROM ${newestAttempts()} GROUP BY subscription_id
        ) AS attempts
        INNER JOIN
        (
            SELECT id AS subscription_id, max(webhook_subscriptions.changed_at) AS changed_at FROM webhook_subscriptions
            GROUP BY id HAVING argMax(state, version) = 'enabled'
        ) AS subscriptions USING (subscription_id)
        WHERE failed_at > greatest(succeeded_at, changed_at)
    )
    SELECT subscription_id, min(started_at) AS since, toUInt32(count()) AS failures
    FROM webhook_attempts INNER JOIN failing USING (subscription_id)
    WHERE outcome IN ('failure', 'refused') AND started_at > sound_at
      AND started_at > ifNull((SELECT minOrNull(sound_at) FROM failing), toDateTime64(${END_OF_TIME}, 3))
    GROUP BY subscription_id`,
})
