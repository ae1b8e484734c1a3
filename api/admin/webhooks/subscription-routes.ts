import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { listedWebhookSubscriptions, WebhookPosition } from '../../../clickhouse/webhooks/subscriptions.js'
import { subscriptionHealth } from '../../../clickhouse/webhooks/totals.js'
import { open } from '../../../process/sealed-secret.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../../answers/cursor.js'
import { querySignal } from '../../answers/query-signal.js'
import { problemResponses } from '../../http/problem.js'
import { IDEMPOTENCY_KEY, RepeatableHeaders, repeatable } from './request-key.js'
import {
  ChangedSubscription,
  HealthShape,
  NewSubscription,
  published,
  SubscriptionShape,
  SubscriptionWithSecret,
} from './subscription-shapes.js'
import {
  createSubscription,
  deleteSubscription,
  disableSubscription,
  enableSubscription,
  requireSubscription,
  rotateSecret,
  updateSubscription,
} from './subscriptions.js'
import { ADMIN, ofAdmin, required, SubscriptionParams, type WebhookTerms } from './terms.js'

const createSchema = {
  ...ofAdmin,
  operationId: 'createWebhook',
  summary: 'Subscribe a URL to events, and get the secret that they are signed with',
  description:
    'Events that are recorded from now on are sent to it. The secret is returned in this answer only: keep it, or replace it ' +
    'by rotation.',
  headers: RepeatableHeaders,
  body: NewSubscription,
  response: { 201: SubscriptionWithSecret, ...problemResponses(400, 401, 403, 409, 413, 415, 422, 503) },
}

const listSchema = {
  ...ofAdmin,
  operationId: 'listWebhooks',
  summary: 'All subscriptions to webhooks, newest first, without their secrets',
  description: 'Includes disabled subscriptions, but not deleted ones.',
  querystring: z.strictObject({ limit: LimitQuery, cursor: CursorQuery(WebhookPosition) }),
  response: {
    200: z.object({
      webhooks: z.array(SubscriptionShape).meta({ description: 'The newest first' }),
      next_cursor: NextCursor,
    }),
    ...problemResponses(400, 401, 403, 503),
  },
}

const showSchema = {
  ...ofAdmin,
  operationId: 'getWebhook',
  summary: 'A subscription and its health',
  description: 'Works for deleted subscriptions too, whose deliveries can still be listed.',
  params: SubscriptionParams,
  response: {
    200: SubscriptionShape.extend({ health: HealthShape.meta({ description: 'Health of the subscription' }) }),
    ...problemResponses(400, 401, 403, 404, 503),
  },
}

const updateSchema = {
  ...ofAdmin,
  operationId: 'updateWebhook',
  summary: 'Change the label, URL or filters of a subscription',
  description: 'Omitted fields stay as they are. Pending deliveries go to the new URL.',
  params: SubscriptionParams,
  body: ChangedSubscription,
  response: { 200: SubscriptionShape, ...problemResponses(400, 401, 403, 404, 413, 415, 503) },
}

const removeSchema = {
  ...ofAdmin,
  operationId: 'deleteWebhook',
  summary: 'Delete a subscription; nothing more is sent to it',
  description: 'Pending deliveries are canceled and can still be listed. Deleting it again changes nothing.',
  params: SubscriptionParams,
  response: { 200: SubscriptionShape, ...problemResponses(400, 401, 403, 404, 503) },
}

/** Creates, lists, changes and deletes webhook subscriptions. */
export const adminWebhooksRoutes =
  (terms: WebhookTerms | null): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/webhooks', { schema: createSchema, config: ADMIN }, async (request, reply) => {
      const { secretsKey } = required(terms)
      const repeat = repeatable(['webhooks'], request.headers[IDEMPOTENCY_KEY], request.body)
      const subscription = await createSubscription(app, required(terms), request.body, repeat)
      const { id } = subscription
      request.log.info({ webhook: id }, 'a webhook subscription was created')
      const secret = open(secretsKey, id, subscription.secret)
      return reply.code(201).send({ ...published(subscription, app.now()), secret })
    })

    app.get('/webhooks', { schema: listSchema, config: ADMIN }, async (request) => {
      const { limit, cursor: after } = request.query
      const options = { signal: querySignal(request) }
      const listed = await listedWebhookSubscriptions(app.clickhouse, { limit: limit + 1, after }, options)
      const { rows, next_cursor } = page(listed, limit, ({ created_at, id }) => [created_at.getTime(), id])
      return { webhooks: rows.map((row) => published(row, app.now())), next_cursor }
    })

    app.get('/webhooks/:id', { schema: showSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const now = app.now()
      const subscription = await requireSubscription(app, id)
      const params = { subscription_id: id, changed_at: subscription.changed_at, now }
      const health = await subscriptionHealth(app.clickhouse, params, { signal: querySignal(request) })
      const { last_success_at, failing_since, ...counts } = health
      return {
        ...published(subscription, now),
        health: {
          last_success_at: last_success_at?.toISOString() ?? null,
          failing_since: failing_since?.toISOString() ?? null,
          ...counts,
        },
      }
    })

    app.patch('/webhooks/:id', { schema: updateSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const subscription = await updateSubscription(app, required(terms), id, request.body)
      request.log.info({ webhook: id, version: subscription.version }, 'a webhook subscription was changed')
      return published(subscription, app.now())
    })

    app.delete('/webhooks/:id', { schema: removeSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const subscription = await deleteSubscription(app, id)
      request.log.info({ webhook: id }, 'a webhook subscription was deleted')
      return published(subscription, app.now())
    })
  }

const disableSchema = {
  ...ofAdmin,
  operationId: 'disableWebhook',
  summary: 'Send nothing to a subscription until it is enabled again',
  description:
    'Pending deliveries are canceled when they fall due, and events that are recorded while it is disabled are not ' +
    'sent later, except by a replay. Disabling it again changes nothing.',
  params: SubscriptionParams,
  response: { 200: SubscriptionShape, ...problemResponses(400, 401, 403, 404, 503) },
}

const enableSchema = {
  ...ofAdmin,
  operationId: 'enableWebhook',
  summary: 'Resume sending events that are recorded from now on',
  description: 'Missed events can be sent with a replay. Enabling it again changes nothing.',
  params: SubscriptionParams,
  response: { 200: SubscriptionShape, ...problemResponses(400, 401, 403, 404, 503) },
}

const rotateSchema = {
  ...ofAdmin,
  operationId: 'rotateWebhookSecret',
  summary: 'Replace the secret of a subscription; the new one is returned in this answer only',
  description:
    'For 24 hours, deliveries are signed with both the new and the previous secret, so that receivers can change over. ' +
    'If you rotate again in that time, the older of the two stops being used at once.',
  headers: RepeatableHeaders,
  params: SubscriptionParams,
  response: { 200: SubscriptionWithSecret, ...problemResponses(400, 401, 403, 404, 503) },
}

/** Disables and enables webhook subscriptions, and rotates their secrets. */
export const adminWebhookSwitchesRoutes =
  (terms: WebhookTerms | null): FastifyPluginAsyncZod =>
  async (app) => {
    app.post('/webhooks/:id/disable', { schema: disableSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const subscription = await disableSubscription(app, id)
      request.log.info({ webhook: id }, 'a webhook subscription was disabled')
      return published(subscription, app.now())
    })

    app.post('/webhooks/:id/enable', { schema: enableSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const subscription = await enableSubscription(app, id)
      request.log.info({ webhook: id }, 'a webhook subscription was enabled')
      return published(subscription, app.now())
    })

    app.post('/webhooks/:id/rotate-secret', { schema: rotateSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const { secretsKey } = required(terms)
      const repeat = repeatable(['rotate-secret', id], request.headers[IDEMPOTENCY_KEY])
      const subscription = await rotateSecret(app, required(terms), id, repeat)
      request.log.info({ webhook: id }, 'the secret of a webhook subscription was rotated')
      return { ...published(subscription, app.now()), secret: open(secretsKey, id, subscription.secret) }
    })
  }
