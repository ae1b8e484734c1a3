import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { open } from '../../../process/sealed-secret.js'
import { problemResponses } from '../../http/problem.js'
import { IDEMPOTENCY_KEY, RepeatableHeaders, repeatable } from './request-key.js'
import { ADMIN, ofAdmin, SubscriptionParams } from './route-parts.js'
import { published, SubscriptionShape, SubscriptionWithSecret } from './subscription-shapes.js'
import { disableSubscription, enableSubscription, rotateSecret } from './subscriptions.js'
import { required, type WebhookTerms } from './terms.js'

/** Switches subscriptions to webhooks off and on, and replaces their secrets. */
export const adminWebhookSwitchesRoutes =
  (terms: WebhookTerms | null): FastifyPluginAsyncZod =>
  async (app) => {
    const disable = {
      ...ofAdmin,
      operationId: 'disableWebhook',
      summary: 'Send nothing to a subscription until it is enabled again',
      description:
        'Deliveries that were still to be tried are canceled when they fall due, and events that are recorded meanwhile are not ' +
        'sent later, except by a replay. To disable it again changes nothing.',
      params: SubscriptionParams,
      response: { 200: SubscriptionShape, ...problemResponses(400, 401, 403, 404, 503) },
    }
    app.post('/webhooks/:id/disable', { schema: disable, config: ADMIN }, async (request) => {
      const { id } = request.params
      const subscription = await disableSubscription(app, id)
      request.log.info({ webhook: id }, 'a webhook subscription was disabled')
      return published(subscription, app.now())
    })

    const enable = {
      ...ofAdmin,
      operationId: 'enableWebhook',
      summary: 'Send events to a subscription again, those that are recorded from now on',
      description: 'What was missed can be sent by a replay. To enable it again changes nothing.',
      params: SubscriptionParams,
      response: { 200: SubscriptionShape, ...problemResponses(400, 401, 403, 404, 503) },
    }
    app.post('/webhooks/:id/enable', { schema: enable, config: ADMIN }, async (request) => {
      const { id } = request.params
      const subscription = await enableSubscription(app, id)
      request.log.info({ webhook: id }, 'a webhook subscription was enabled')
      return published(subscription, app.now())
    })

    const rotate = {
      ...ofAdmin,
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a subscription, which is told in this answer alone',
      description:
        'For 24 hours deliveries carry a signature by each of the two newest secrets, so that receivers can change over. ' +
        'Rotating again in that time ends the older of them at once.',
      headers: RepeatableHeaders,
      params: SubscriptionParams,
      response: { 200: SubscriptionWithSecret, ...problemResponses(400, 401, 403, 404, 503) },
    }
    app.post('/webhooks/:id/rotate-secret', { schema: rotate, config: ADMIN }, async (request) => {
      const { id } = request.params
      const { secretsKey } = required(terms)
      const own = repeatable(['rotate-secret', id], request.headers[IDEMPOTENCY_KEY])
      const subscription = await rotateSecret(app, required(terms), id, own)
      request.log.info({ webhook: id }, 'the secret of a webhook subscription was rotated')
      return { ...published(subscription, app.now()), secret: open(secretsKey, id, subscription.secret) }
    })
  }
