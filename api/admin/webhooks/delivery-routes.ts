import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../../clickhouse/events/types.js'
import { DELIVERY_STATES, deliveryPage, deliveryPageOfState } from '../../../clickhouse/webhooks/delivery-log.js'
import { parseInstant } from '../../../process/instants.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../../answers/cursor.js'
import { querySignal } from '../../answers/query-signal.js'
import { problemResponses } from '../../http/problem.js'
import {
  addReplay,
  addReplays,
  addTest,
  DeliveryShape,
  MOST_REPLAYED,
  readDeliveries,
  requireEnabled,
} from './deliveries.js'
import { IDEMPOTENCY_KEY, RepeatableHeaders, repeatable } from './request-key.js'
import { requireSubscription } from './subscriptions.js'
import { ADMIN, ofAdmin, SubscriptionParams } from './terms.js'

const TestBody = z
  .strictObject({
    event_type: z
      .enum(EVENT_TYPES)
      .optional()
      .meta({ description: 'Type of the made-up event; the first event type of the subscription if omitted' }),
  })
  .nullish()

const ReplayBody = z.strictObject({
  since: z.union([z.string().max(100), z.int().nonnegative()]).meta({
    description: 'Replay events recorded since this time: in the formats of `as_of`, or unix seconds as a number',
    examples: ['2026-07-01T00:00:00Z', '24h'],
  }),
  only_undelivered: z.boolean().default(false).meta({
    description: 'Skip events that were delivered or are still pending',
  }),
})

const listSchema = {
  ...ofAdmin,
  operationId: 'listWebhookDeliveries',
  summary: 'Deliveries of a subscription, newest first, with every attempt',
  description: 'Attempts appear within about a second of their end.',
  params: SubscriptionParams,
  querystring: z.strictObject({
    state: z.enum(DELIVERY_STATES).optional().meta({ description: 'Only those in this state' }),
    limit: LimitQuery,
    cursor: CursorQuery(z.int().positive()),
  }),
  response: {
    200: z.object({
      deliveries: z.array(DeliveryShape).meta({ description: 'The newest first' }),
      next_cursor: NextCursor,
    }),
    ...problemResponses(400, 401, 403, 404, 503),
  },
}

const testSchema = {
  ...ofAdmin,
  operationId: 'testWebhook',
  summary: 'Send a made-up event to a subscription',
  description:
    'It is sent and retried like any other event, in the format of its type. Its event id begins with evt_test_, and ' +
    'its data is made up.',
  headers: RepeatableHeaders,
  params: SubscriptionParams,
  body: TestBody,
  response: { 202: DeliveryShape, ...problemResponses(400, 401, 403, 404, 409, 413, 415, 422, 503) },
}

const replayOneSchema = {
  ...ofAdmin,
  operationId: 'replayWebhookDelivery',
  summary: 'Send the event of a delivery again',
  description:
    'Adds a new delivery with its own number and seven attempts, whatever the result of the other one. Its event id is the ' +
    'same, so that receivers can recognize it.',
  headers: RepeatableHeaders,
  params: SubscriptionParams.extend({
    delivery_id: z
      .string()
      .regex(/^\d{1,15}$/, 'must be a whole number')
      .transform(Number)
      .meta({ description: 'The delivery_id from the list of deliveries', example: '1' }),
  }),
  response: { 202: DeliveryShape, ...problemResponses(400, 401, 403, 404, 409, 503) },
}

const replayManySchema = {
  ...ofAdmin,
  operationId: 'replayWebhook',
  summary: 'Send all events since a time again',
  description:
    'Sends all events that match the current subscription, whether or not they were sent before, each as a new delivery; ' +
    `at most ${MOST_REPLAYED}.`,
  headers: RepeatableHeaders,
  params: SubscriptionParams,
  body: ReplayBody,
  response: {
    202: z.object({ deliveries: z.int().meta({ description: 'Number of deliveries added' }) }),
    ...problemResponses(400, 401, 403, 404, 409, 413, 415, 422, 503),
  },
}

/** Lists webhook deliveries with their attempts, and adds tests and replays. */
export const adminWebhookDeliveriesRoutes: FastifyPluginAsyncZod = async (app) => {
  app.get('/webhooks/:id/deliveries', { schema: listSchema, config: ADMIN }, async (request) => {
    const { id } = request.params
    const { state, limit, cursor: before } = request.query
    await requireSubscription(app, id)
    const params = { subscription_id: id, before, limit: limit + 1 }
    const options = { signal: querySignal(request) }
    const deliveryIds =
      state === undefined
        ? await deliveryPage(app.clickhouse, params, options)
        : await deliveryPageOfState(app.clickhouse, { ...params, state }, options)
    const { rows: ids, next_cursor } = page(deliveryIds, limit, (delivery_id) => delivery_id)
    return { deliveries: await readDeliveries(app, id, ids), next_cursor }
  })

  app.post('/webhooks/:id/test', { schema: testSchema, config: ADMIN }, async (request, reply) => {
    const { id } = request.params
    const subscription = await requireSubscription(app, id)
    requireEnabled(subscription)
    const event_type = request.body?.event_type ?? (subscription.event_types[0] as EventType)
    const repeat = repeatable(['test', id], request.headers[IDEMPOTENCY_KEY], event_type)
    return reply.code(202).send(await addTest(app, subscription, event_type, repeat))
  })

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/replay',
    { schema: replayOneSchema, config: ADMIN },
    async (request, reply) => {
      const { id, delivery_id } = request.params
      const subscription = await requireSubscription(app, id)
      requireEnabled(subscription)
      const repeat = repeatable(['replay', id, delivery_id], request.headers[IDEMPOTENCY_KEY])
      return reply.code(202).send(await addReplay(app, subscription, delivery_id, repeat))
    },
  )

  app.post('/webhooks/:id/replay', { schema: replayManySchema, config: ADMIN }, async (request, reply) => {
    const { id } = request.params
    const { since: text, only_undelivered: onlyUndelivered } = request.body
    const since = new Date(Math.max(0, parseInstant('since', `${text}`, app.now()).getTime()))
    const subscription = await requireSubscription(app, id)
    requireEnabled(subscription)
    const repeat = repeatable(['replay', id], request.headers[IDEMPOTENCY_KEY], request.body)
    const deliveries = await addReplays(app, subscription, { since, onlyUndelivered }, repeat)
    request.log.info({ webhook: id, deliveries }, 'events are being sent again')
    return reply.code(202).send({ deliveries })
  })
}
