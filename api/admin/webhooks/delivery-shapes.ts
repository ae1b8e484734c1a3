import { z } from 'zod'
import { EVENT_TYPES } from '../../../clickhouse/events/types.js'
import type { Attempt, Delivery } from '../../../clickhouse/webhooks/deliveries.js'
import { DELIVERY_STATES } from '../../../clickhouse/webhooks/delivery-states.js'

const AttemptShape = z.object({
  attempt: z.int().meta({ description: 'From 1; there are seven at most' }),
  outcome: z.enum(['success', 'failure', 'canceled']).meta({
    description: 'canceled: nothing was sent, as the subscription was disabled or deleted when it was due',
  }),
  status: z.int().nullable().meta({ description: 'Status of the response; null where there was none' }),
  error: z.string().nullable().meta({ description: 'Why there was no response, or none that counts; else null' }),
  response: z.string().meta({ description: 'The first bytes of its body' }),
  started_at: z.iso.datetime().meta({ description: 'When it was begun' }),
  duration_ms: z.int().meta({ description: 'How long it took, in milliseconds' }),
  next_attempt_at: z.iso.datetime().nullable().meta({ description: 'When the next one is due; null after the last' }),
})

/** A delivery and what has become of it. */
export const DeliveryShape = z.object({
  delivery_id: z.int().meta({ description: 'Unique, and the same over all attempts' }),
  kind: z.enum(['event', 'test', 'replay']).meta({ description: 'Why it is sent' }),
  event: z.enum(EVENT_TYPES).meta({ description: 'Type of its event' }),
  event_id: z.string().meta({ description: 'Id of its event, the same when it is replayed' }),
  state: z.enum(DELIVERY_STATES).meta({
    description: 'pending: still to be tried. canceled: the subscription was disabled or deleted when it was due',
  }),
  created_at: z.iso.datetime().meta({ description: 'When it was recorded' }),
  next_attempt_at: z.iso.datetime().nullable().meta({ description: 'When it is tried next; null when it is over' }),
  attempts: z.array(AttemptShape).meta({ description: 'In the order in which they were made' }),
})

/** A delivery as an answer has it; of `attempts` it takes its own. */
export function publishedDelivery(delivery: Delivery, attempts: readonly Attempt[]): z.input<typeof DeliveryShape> {
  const { delivery_id, kind, event_type, event_id, state, recorded_at, next_attempt_at } = delivery
  return {
    delivery_id,
    kind,
    event: event_type,
    event_id,
    state,
    created_at: recorded_at.toISOString(),
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    attempts: attempts.filter((attempt) => attempt.delivery_id === delivery_id).map(publishedAttempt),
  }
}

function publishedAttempt(attempt: Attempt): z.input<typeof AttemptShape> {
  const { delivery_id: _, status, error, started_at, next_attempt_at, ...values } = attempt
  return {
    ...values,
    status: status === 0 ? null : status,
    error: error === '' ? null : error,
    started_at: started_at.toISOString(),
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
  }
}
