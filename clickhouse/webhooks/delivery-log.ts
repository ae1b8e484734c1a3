import { z } from 'zod'
import { EVENT_TYPES } from '../events/types.js'
import { defineQuery, onlyColumn } from '../store/define-query.js'
import { dateTime, safeInteger } from '../store/values.js'

/** The states of a delivery: pending, or one of three ways in which it ended. */
export const DELIVERY_STATES = ['pending', 'successful', 'failed', 'canceled'] as const

/**
 * The SQL expression of a delivery's state, aggregated over its attempts. A success counts, whatever another process
 * recorded for the same attempt. A delivery without attempts is pending, but has no rows for this to see.
 */
export const STATE_OF_ATTEMPTS = `
  multiIf(countIf(outcome = 'success') > 0, 'successful',
          countIf(next_attempt_at IS NULL AND outcome = 'failure') > 0, 'failed',
          countIf(next_attempt_at IS NULL) > 0, 'canceled',
          'pending')`

/**
 * The SQL of a delivery number below which no delivery is pending, so that searches for pending ones can start there.
 */
export const SETTLED_BEFORE = '(SELECT max(settled_before) FROM webhook_fan_outs)'

const Delivery = z.object({
  delivery_id: safeInteger,
  kind: z.enum(['event', 'test', 'replay']),
  event_id: z.string(),
  event_sequence: safeInteger,
  event_type: z.enum(EVENT_TYPES),
  data: z.string().transform((text) => JSON.parse(text) as Record<string, unknown>),
  published_at: dateTime.nullable(),
  recorded_at: dateTime,
  state: z.enum(DELIVERY_STATES),
  next_attempt_at: dateTime.nullable(),
})
export type Delivery = z.infer<typeof Delivery>

/**
 * A subscription's deliveries with these numbers, newest first. `next_attempt_at` is null unless the delivery is
 * pending.
 */
export const deliveriesById = defineQuery({
  name: 'webhook_deliveries_by_id',
  params: z.object({ subscription_id: z.string(), ids: z.array(z.int()) }),
  row: Delivery,
  sql: `
    SELECT delivery_id, kind, event_id, event_sequence, event_type, data, published_at, recorded_at,
           if(tried.state = '', 'pending', tried.state) AS state,
           if(state = 'pending', coalesce(tried.due_at, recorded_at), NULL) AS next_attempt_at
    FROM webhook_deliveries
    LEFT JOIN
    (
        SELECT delivery_id, ${STATE_OF_ATTEMPTS} AS state, max(webhook_attempts.next_attempt_at) AS due_at
        FROM webhook_attempts WHERE delivery_id IN {ids: Array(UInt64)}
        GROUP BY delivery_id
    ) AS tried USING (delivery_id)
    WHERE delivery_id IN {ids: Array(UInt64)} AND subscription_id = {subscription_id: String}
    ORDER BY delivery_id DESC`,
})

const Attempt = z.object({
  delivery_id: safeInteger,
  attempt: z.int(),
  outcome: z.enum(['success', 'failure', 'canceled']),
  status: z.int(),
  error: z.string(),
  response: z.string(),
  started_at: dateTime,
  duration_ms: z.int(),
  next_attempt_at: dateTime.nullable(),
})
export type Attempt = z.infer<typeof Attempt>

/** The attempts of these deliveries, by delivery and in the order in which they were made. */
export const attemptsOfDeliveries = defineQuery({
  name: 'webhook_attempts_of_deliveries',
  params: z.object({ ids: z.array(z.int()) }),
  row: Attempt,
  sql: `
    SELECT delivery_id, attempt, outcome, status, error, response, started_at, duration_ms, next_attempt_at
    FROM webhook_attempts WHERE delivery_id IN {ids: Array(UInt64)}
    ORDER BY delivery_id, attempt, started_at`,
})

/** The numbers of a subscription's deliveries below `before`, the newest first, at most `limit`. */
export const deliveryPage = defineQuery({
  name: 'webhook_delivery_page',
  params: z.object({
    subscription_id: z.string(),
    before: z.int().default(Number.MAX_SAFE_INTEGER),
    limit: z.int(),
  }),
  row: onlyColumn('delivery_id', safeInteger),
  sql: `
    SELECT delivery_id FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND delivery_id < {before: UInt64}
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`,
})

/** The same, for deliveries in one state. */
export const deliveryPageOfState = defineQuery({
  name: 'webhook_delivery_page_of_state',
  params: z.object({
    subscription_id: z.string(),
    state: z.enum(DELIVERY_STATES),
    before: z.int().default(Number.MAX_SAFE_INTEGER),
    limit: z.int(),
  }),
  row: onlyColumn('delivery_id', safeInteger),
  sql: `
    WITH if({state: String} = 'pending', ${SETTLED_BEFORE}, 0) AS first
    SELECT delivery_id FROM webhook_deliveries
    LEFT JOIN
    (
        SELECT delivery_id, ${STATE_OF_ATTEMPTS} AS state
        FROM webhook_attempts
        WHERE subscription_id = {subscription_id: String} AND delivery_id >= first AND delivery_id < {before: UInt64}
        GROUP BY delivery_id
    ) AS tried USING (delivery_id)
    WHERE subscription_id = {subscription_id: String} AND delivery_id >= first AND delivery_id < {before: UInt64}
      AND if(tried.state = '', 'pending', tried.state) = {state: String}
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`,
})
