import { z } from 'zod'
import { EVENT_TYPES } from '../events/types.js'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { DELIVERY_STATES, STATE_OF_ATTEMPTS } from './delivery-states.js'

const number = z.string().transform(Number)

const Delivery = z.object({
  delivery_id: number,
  kind: z.enum(['event', 'test', 'replay']),
  event_id: z.string(),
  event_sequence: number,
  event_type: z.enum(EVENT_TYPES),
  data: z.string().transform((text) => JSON.parse(text) as Record<string, unknown>),
  recorded_at: dateTime,
  state: z.enum(DELIVERY_STATES),
  next_attempt_at: dateTime.nullable(),
})
export type Delivery = z.infer<typeof Delivery>

/** Those of a subscription's deliveries that have these numbers, the newest first; of pending ones with when they are due. */
export const deliveriesById = defineQuery({
  name: 'webhook_deliveries_by_id',
  params: z.object({ subscription_id: z.string(), ids: z.array(z.int()) }),
  row: Delivery,
  sql: `
    SELECT delivery_id, kind, event_id, event_sequence, event_type, data, recorded_at,
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
  delivery_id: number,
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

/** The attempts of deliveries, in the order in which they were made. */
export const attemptsOfDeliveries = defineQuery({
  name: 'webhook_attempts_of_deliveries',
  params: z.object({ ids: z.array(z.int()) }),
  row: Attempt,
  sql: `
    SELECT delivery_id, attempt, outcome, status, error, response, started_at, duration_ms, next_attempt_at
    FROM webhook_attempts WHERE delivery_id IN {ids: Array(UInt64)}
    ORDER BY delivery_id, attempt, started_at`,
})
