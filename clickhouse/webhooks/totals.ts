import { z } from 'zod'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { dateTime, safeInteger } from '../store/values.js'
import { ATTEMPT_OUTCOMES, newestAttempts } from './attempts.js'
import { SETTLED_BEFORE } from './delivery-log.js'
import { SUBSCRIPTION_STATES } from './subscriptions.js'

/**
 * The health of a subscription, last changed at `changed_at`, as of `now`: its last success, the first failure after
 * that and after the change, its attempts of the day before, how many of those succeeded, and its pending deliveries.
 * One row. Reads the attempts of that day, or since the first of those failures.
 */
export const subscriptionHealth = defineRow({
  name: 'webhook_subscription_health',
  params: z.object({ subscription_id: z.string(), changed_at: z.date(), now: z.date() }),
  row: z.object({
    last_success_at: dateTime.nullable(),
    failing_since: dateTime.nullable(),
    attempts_24h: z.int(),
    successes_24h: z.int(),
    pending: z.int(),
  }),
  sql: `
    WITH
        (SELECT maxOrNull(newest) FROM ${newestAttempts("subscription_id = {subscription_id: String} AND outcome = 'success'")}) AS last_success,
        (SELECT max(newest) FROM ${newestAttempts("subscription_id = {subscription_id: String} AND outcome IN ('failure', 'refused')")}) AS last_failure,
        greatest({changed_at: DateTime64(3)}, ifNull(last_success, toDateTime64(0, 3))) AS sound_at,
        {now: DateTime64(3)} - INTERVAL 1 DAY AS day_ago,
        outcome IN ('success', 'failure') AND started_at > day_ago AS is_new,
        ${SETTLED_BEFORE} AS settled,
        (
            SELECT count() FROM webhook_deliveries
            WHERE subscription_id = {subscription_id: String} AND delivery_id >= settled AND kind != 'held'
        ) AS deliveries,
        (
            SELECT uniqExact(delivery_id) FROM webhook_attempts
            WHERE subscription_id = {subscription_id: String} AND delivery_id >= settled AND next_attempt_at IS NULL
        ) AS ended
    SELECT last_success AS last_success_at,
           minIfOrNull(started_at, outcome IN ('failure', 'refused') AND started_at > sound_at) AS failing_since,
           toUInt32(countIf(is_new)) AS attempts_24h,
           toUInt32(countIf(is_new AND outcome = 'success')) AS successes_24h,
           toUInt32(deliveries - ended) AS pending
    FROM webhook_attempts
    WHERE subscription_id = {subscription_id: String} AND started_at > if(last_failure > sound_at, least(sound_at, day_ago), day_ago)`,
})

/** How many subscriptions are in each state; no row for a state without any. */
export const subscriptionCounts = defineQuery({
  name: 'webhook_subscription_counts',
  row: z.object({ state: z.enum(SUBSCRIPTION_STATES), subscriptions: z.int() }),
  sql: `
    SELECT state, toUInt32(count()) AS subscriptions
    FROM (SELECT id, argMax(webhook_subscriptions.state, version) AS state FROM webhook_subscriptions GROUP BY id)
    GROUP BY state ORDER BY state`,
})

/** All attempts ever made, by outcome and by the first digit of the response status, 0 if there was no response. */
export const attemptTotals = defineQuery({
  name: 'webhook_attempt_totals',
  row: z.object({
    outcome: z.enum(ATTEMPT_OUTCOMES),
    status_class: z.int(),
    attempts: safeInteger,
  }),
  sql: `
    SELECT outcome, intDiv(status, 100) AS status_class, count() AS attempts
    FROM webhook_attempts GROUP BY outcome, status_class ORDER BY outcome, status_class`,
})

/** How many deliveries were ever given up: after their last attempt, or because their receiver is gone. */
export const droppedTotal = defineRow({
  name: 'webhook_dropped_total',
  row: onlyColumn('dropped', safeInteger),
  // In the words of the summary that the engine keeps beside the rows.
  sql: `
    SELECT count() AS dropped FROM webhook_attempts
    WHERE outcome = 'failure' AND coalesce(toUnixTimestamp(next_attempt_at), 0) = 0`,
})

/** The number of pending deliveries. */
export const pendingTotal = defineRow({
  name: 'webhook_pending_total',
  row: onlyColumn('pending', z.int()),
  sql: `
    WITH (SELECT count() FROM webhook_deliveries WHERE delivery_id >= ${SETTLED_BEFORE} AND kind != 'held') AS deliveries
    SELECT toUInt32(deliveries - uniqExact(delivery_id)) AS pending
    FROM webhook_attempts WHERE next_attempt_at IS NULL AND delivery_id >= ${SETTLED_BEFORE}`,
})

/**
 * How long after they were due the first attempts of deliveries were started, in the hour before `now`, in seconds;
 * null if there were none.
 */
export const dispatchDelays = defineRow({
  name: 'webhook_dispatch_delays',
  params: z.object({ now: z.date() }),
  row: z.object({ p50_seconds: z.number().nullable(), p99_seconds: z.number().nullable() }),
  sql: `
    WITH dateDiff('millisecond', due_at, started_at) / 1000 AS delay
    SELECT quantileExactOrNull(0.5)(delay) AS p50_seconds, quantileExactOrNull(0.99)(delay) AS p99_seconds
    FROM webhook_attempts
    WHERE attempt = 1 AND outcome != 'canceled' AND started_at > {now: DateTime64(3)} - INTERVAL 1 HOUR`,
})
