import { z } from 'zod'
import { EVENT_TYPES } from '../events/types.js'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { DISABLED_REASONS, SUBSCRIPTION_STATES } from './webhook-subscription.js'

const WebhookSubscription = z.object({
  id: z.string(),
  version: z.int(),
  label: z.string(),
  url: z.string(),
  event_types: z.array(z.enum(EVENT_TYPES)),
  stable_filter: z.array(z.string()),
  state: z.enum(SUBSCRIPTION_STATES),
  reason: z.enum([...DISABLED_REASONS, '']),
  secret: z.string(),
  previous_secret: z.string(),
  previous_secret_until: dateTime.nullable(),
  after_sequence: z.int(),
  created_at: dateTime,
  changed_at: dateTime,
})

/** A version with the request that made it. */
const RequestedVersion = WebhookSubscription.extend({
  change: z.string(),
  request_key: z.string(),
  request_body: z.string(),
})

const COLUMNS = `
  id, version, label, url, event_types, stable_filter, state, reason, secret, previous_secret, previous_secret_until,
  toUInt32(after_sequence) AS after_sequence, created_at, changed_at`

const NEWEST = `SELECT ${COLUMNS} FROM webhook_subscriptions`

/** The newest version of a subscription, also of a deleted one; nothing where there is none. */
export const webhookSubscription = defineQuery({
  name: 'webhook_subscription',
  params: z.object({ id: z.string() }),
  row: WebhookSubscription,
  sql: `${NEWEST} WHERE id = {id: String} ORDER BY version DESC LIMIT 1`,
})

/** All subscriptions but the deleted ones. */
export const allWebhookSubscriptions = defineQuery({
  name: 'all_webhook_subscriptions',
  params: z.object({}),
  row: WebhookSubscription,
  sql: `SELECT * FROM (${NEWEST} ORDER BY id, version DESC LIMIT 1 BY id) WHERE state != 'deleted'`,
})

/** Where in the list of subscriptions, newest first, a page goes on: after the one made at this time, in milliseconds, with this id. */
export const WebhookPosition = z.tuple([z.int().nonnegative(), z.string().max(100)])

/** The same, newest first, at most `limit` of those after a position. */
export const listedWebhookSubscriptions = defineQuery({
  name: 'listed_webhook_subscriptions',
  params: z
    .object({ limit: z.int(), after: WebhookPosition.default([Number.MAX_SAFE_INTEGER, '']) })
    .transform(({ limit, after: [after_ms, after_id] }) => ({ limit, after_ms, after_id })),
  row: WebhookSubscription,
  sql: `
    SELECT * FROM (${NEWEST} ORDER BY id, version DESC LIMIT 1 BY id)
    WHERE state != 'deleted' AND (toUnixTimestamp64Milli(created_at), id) < ({after_ms: Int64}, {after_id: String})
    ORDER BY created_at DESC, id DESC
    LIMIT {limit: UInt32}`,
})

/** One version, with who made it; nothing where there is none yet. */
export const webhookSubscriptionVersion = defineQuery({
  name: 'webhook_subscription_version',
  params: z.object({ id: z.string(), version: z.int() }),
  row: RequestedVersion,
  sql: `
    SELECT ${COLUMNS}, change, request_key, request_body FROM webhook_subscriptions
    WHERE id = {id: String} AND version = {version: UInt32}`,
})

/** The version that a request, which has named itself, has made; nothing where it has made none. */
export const webhookVersionOfRequest = defineQuery({
  name: 'webhook_version_of_request',
  params: z.object({ request_key: z.string() }),
  row: RequestedVersion,
  sql: `
    SELECT ${COLUMNS}, change, request_key, request_body
    FROM webhook_subscriptions
    WHERE request_key = {request_key: String}
    ORDER BY version LIMIT 1`,
})
