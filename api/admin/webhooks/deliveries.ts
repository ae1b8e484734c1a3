import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { LoggedEvent } from '../../../clickhouse/events/log.js'
import { EVENT_TYPES, type EventType } from '../../../clickhouse/events/types.js'
import { COUNTED_OUTCOMES } from '../../../clickhouse/webhooks/attempts.js'
import { exampleData } from '../../../clickhouse/webhooks/body.js'
import {
  addDeliveries,
  eventsToReplay,
  type NewDelivery,
  requestedDeliveries,
} from '../../../clickhouse/webhooks/deliveries.js'
import {
  type Attempt,
  attemptsOfDeliveries,
  DELIVERY_KINDS,
  DELIVERY_STATES,
  type Delivery,
  DIGEST,
  deliveriesById,
} from '../../../clickhouse/webhooks/delivery-log.js'
import { digestsFrom } from '../../../clickhouse/webhooks/digests.js'
import type { RepeatableRequest, Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { BadParameterError } from '../../../process/errors.js'
import { NotFoundError } from '../../http/errors.js'
import { ConflictError, ReusedKeyError } from './errors.js'
import { causeOf } from './request-key.js'

/** Most events in one replay. */
export const MOST_REPLAYED = 10_000

/** Deliveries of a subscription with their attempts, as they are published, newest first. */
export async function readDeliveries(app: FastifyInstance, subscription_id: string, ids: readonly number[]) {
  if (ids.length === 0) return []
  const [deliveries, attempts] = await Promise.all([
    deliveriesById(app.clickhouse, { subscription_id, ids: [...ids] }),
    attemptsOfDeliveries(app.clickhouse, { ids: [...ids] }),
  ])
  const digestOf = await digestsOfHeld(app, subscription_id, deliveries)
  return deliveries.map((delivery) => publishedDelivery(delivery, attempts, digestOf(delivery)))
}

/** A function for the delivery of the digest that has a held event; null if there is none yet, and for other deliveries. */
async function digestsOfHeld(app: FastifyInstance, subscription_id: string, deliveries: readonly Delivery[]) {
  const held = deliveries.filter(({ kind }) => kind === 'held')
  const from_sequence = Math.min(...held.map(({ event_sequence }) => event_sequence))
  const digests =
    held.length === 0 ? [] : await digestsFrom(app.clickhouse, { subscription_id, from_sequence, limit: held.length })
  return ({ kind, event_sequence }: Delivery): number | null => {
    if (kind !== 'held') return null
    return digests.find((digest) => digest.event_sequence >= event_sequence)?.delivery_id ?? null
  }
}

/** Throws a 409 for a disabled subscription and a 404 for a deleted one. */
export function requireEnabled({ state }: Subscription): void {
  if (state === 'deleted') throw new NotFoundError('unknown-webhook', 'this webhook subscription is deleted', 'id')
  if (state === 'disabled')
    throw new ConflictError('webhook-disabled', 'this webhook subscription is disabled; enable it first')
}

/**
 * When this request or the one that it repeats first added deliveries; now if it is new. Throws a 422 if the repeat
 * differs from the first request.
 */
async function firstRequestedAt(app: FastifyInstance, subscription_id: string, request: RepeatableRequest | null) {
  if (request === null) return app.now()
  const { request_key } = request
  const earlier = await requestedDeliveries(app.records, { subscription_id, request_key })
  if (earlier.some(({ cause }) => cause !== causeOf(request))) throw new ReusedKeyError()
  return earlier[0]?.asked_at ?? app.now()
}

/** Adds one delivery, and reads it back. */
async function added(app: FastifyInstance, delivery: NewDelivery) {
  const ids = await addDeliveries(app.records, [delivery])
  const [read] = await readDeliveries(app, delivery.subscription_id, ids)
  if (read === undefined) throw new Error(`delivery ${ids[0]} was added but cannot be read`)
  return read
}

/** Adds a delivery of made-up data, with an event id that no event has. */
export async function addTest(
  app: FastifyInstance,
  { id: subscription_id }: Subscription,
  type: EventType,
  request: RepeatableRequest | null,
) {
  const at = await firstRequestedAt(app, subscription_id, request)
  const cause = causeOf(request)
  return added(app, {
    subscription_id,
    kind: 'test',
    event_id: `evt_test_${cause.replaceAll(/[^0-9a-f]/g, '').slice(0, 32)}`,
    event_sequence: 0,
    event_type: type,
    data: exampleData(type, at),
    cause,
    event_at: at,
    published_at: at,
  })
}

/**
 * Adds a delivery of the same event as another one, with its own attempts. Throws a 404 if the other one does not
 * exist.
 */
export async function addReplay(
  app: FastifyInstance,
  { id: subscription_id }: Subscription,
  delivery_id: number,
  request: RepeatableRequest | null,
) {
  const [delivery] = await deliveriesById(app.clickhouse, { subscription_id, ids: [delivery_id] })
  if (delivery === undefined)
    throw new NotFoundError('unknown-delivery', 'this subscription has no delivery with this number', 'delivery_id')
  const { event_id, event_sequence, event_type, data, published_at } = delivery
  return added(app, {
    subscription_id,
    kind: 'replay',
    event_id,
    event_sequence,
    event_type,
    data,
    cause: causeOf(request),
    event_at: await firstRequestedAt(app, subscription_id, request),
    published_at,
  })
}

/**
 * Adds deliveries of all events that were recorded since a time and that match the subscription; returns how many.
 * Events recorded meanwhile are sent anyway. Throws a 400 if there are too many events since that time.
 */
export async function addReplays(
  app: FastifyInstance,
  {
    id: subscription_id,
    event_types,
    stable_filter,
    severity,
    min_bps,
    min_seconds,
    min_size,
    min_severity,
  }: Subscription,
  { since, onlyUndelivered }: { since: Date; onlyUndelivered: boolean },
  request: RepeatableRequest | null,
): Promise<number> {
  const at = await firstRequestedAt(app, subscription_id, request)
  const cause = causeOf(request)
  const events = await eventsToReplay(app.clickhouse, {
    since,
    before: at,
    types: event_types,
    stables: stable_filter,
    severity,
    min_bps,
    min_seconds,
    min_size,
    min_severity,
    undelivered_to: onlyUndelivered ? subscription_id : '',
    cause,
    limit: MOST_REPLAYED + 1,
  })
  if (events.length > MOST_REPLAYED)
    throw new BadParameterError('since', `has more than ${MOST_REPLAYED} events after it; choose a later time`)
  const replayOf = ({ sequence, id, type, data, recorded_at }: LoggedEvent): NewDelivery => ({
    subscription_id,
    kind: 'replay',
    event_id: id,
    event_sequence: sequence,
    event_type: type,
    data,
    cause,
    event_at: at,
    published_at: recorded_at,
  })
  await addDeliveries(app.records, events.map(replayOf))
  return events.length
}

const AttemptShape = z.object({
  attempt: z.int().meta({ description: 'Number of the attempt, from 1 to at most 7' }),
  outcome: z.enum(COUNTED_OUTCOMES).meta({
    description: 'canceled: nothing was sent, as the subscription was disabled or deleted when it was due',
  }),
  status: z.int().nullable().meta({ description: 'Status of the response; null where there was none' }),
  error: z.string().nullable().meta({ description: 'Why there was no valid response; null if there was one' }),
  response: z.string().meta({ description: 'The first bytes of its body' }),
  started_at: z.iso.datetime().meta({ description: 'When the attempt started' }),
  duration_ms: z.int().meta({ description: 'How long it took, in milliseconds' }),
  next_attempt_at: z.iso.datetime().nullable().meta({ description: 'When the next one is due; null after the last' }),
})

/** A delivery and its result so far. */
export const DeliveryShape = z.object({
  delivery_id: z.int().meta({ description: 'Unique, and the same for all attempts' }),
  kind: z.enum(DELIVERY_KINDS).meta({
    description: 'Why it is sent. held: it is not sent alone, a digest has its event. digest: it has held events',
  }),
  event: z.enum([...EVENT_TYPES, DIGEST]).meta({ description: 'Type of its event; digest, if it has several' }),
  event_id: z.string().meta({ description: 'Id of its event or digest, the same when it is replayed' }),
  state: z.enum(DELIVERY_STATES).meta({
    description:
      'pending: not yet delivered. canceled: the subscription was disabled or deleted when it was due. held: sent in a digest, whose ' +
      'delivery has its own state',
  }),
  digest_delivery_id: z
    .int()
    .nullable()
    .meta({ description: 'Of a held event: the delivery of its digest; null if there is none yet, and for others' }),
  created_at: z.iso.datetime().meta({ description: 'When it was recorded' }),
  next_attempt_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'When the next attempt is due; null if there is none' }),
  refusals: z.int().meta({
    description: 'How many times the receiver answered 429: the subscription then waits, and this is not an attempt',
  }),
  attempts: z.array(AttemptShape).meta({ description: 'In chronological order' }),
})

/** A delivery as it is published; picks its own out of `attempts`. */
function publishedDelivery(
  delivery: Delivery,
  attempts: readonly Attempt[],
  digest_delivery_id: number | null,
): z.input<typeof DeliveryShape> {
  const { delivery_id, kind, event_type, event_id, state, recorded_at, next_attempt_at, refusals } = delivery
  return {
    delivery_id,
    kind,
    event: event_type,
    event_id,
    state,
    digest_delivery_id,
    created_at: recorded_at.toISOString(),
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    refusals,
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
