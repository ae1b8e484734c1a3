import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { SETTLED_BEFORE } from './delivery-states.js'
import { SUBSCRIPTION_STATES } from './webhook-subscription.js'

/** How many subscriptions there are in each state; no row for a state that none is in. */
export const subscriptionCounts = defineQuery({
  name: 'webhook_subscription_counts',
  params: z.object({}),
  row: z.object({ state: z.enum(SUBSCRIPTION_STATES), subscriptions: z.int() }),
  sql: `
    SELECT state, toUInt32(count()) AS subscriptions
    FROM (SELECT id, argMax(webhook_subscriptions.state, version) AS state FROM webhook_subscriptions GROUP BY id)
    GROUP BY state ORDER BY state`,
})

/** Attempts since the database began, by how they ended and by the hundreds of the status, 0 where there was no response. */
export const attemptTotals = defineQuery({
  name: 'webhook_attempt_totals',
  params: z.object({}),
  row: z.object({
    outcome: z.enum(['success', 'failure', 'canceled']),
    status_class: z.int(),
    attempts: z.string().transform(Number),
  }),
  sql: `
    SELECT outcome, intDiv(status, 100) AS status_class, count() AS attempts
    FROM webhook_attempts GROUP BY outcome, status_class ORDER BY outcome, status_class`,
})

/** Deliveries that are still to be tried. */
export const pendingTotal = defineQuery({
  name: 'webhook_pending_total',
  params: z.object({}),
  row: z.object({ pending: z.int() }),
  sql: `
    WITH (SELECT count() FROM webhook_deliveries WHERE delivery_id >= ${SETTLED_BEFORE}) AS deliveries
    SELECT toUInt32(deliveries - uniqExact(delivery_id)) AS pending
    FROM webhook_attempts WHERE next_attempt_at IS NULL AND delivery_id >= ${SETTLED_BEFORE}`,
})

/** How long after they were due the first attempts of the hour before `now` were begun, in seconds; null where there were none. */
export const dispatchDelays = defineQuery({
  name: 'webhook_dispatch_delays',
  params: z.object({ now: z.date() }),
  row: z.object({ p50_seconds: z.number().nullable(), p99_seconds: z.number().nullable() }),
  sql: `
    WITH dateDiff('millisecond', due_at, started_at) / 1000 AS delay
    SELECT quantileExactOrNull(0.5)(delay) AS p50_seconds, quantileExactOrNull(0.99)(delay) AS p99_seconds
    FROM webhook_attempts
    WHERE attempt = 1 AND outcome != 'canceled' AND started_at > {now: DateTime64(3)} - INTERVAL 1 HOUR`,
})
