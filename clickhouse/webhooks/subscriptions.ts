import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { Level, reachesLevel } from '../events/levels.js'
import { type FilteredEvent, passes } from '../events/log.js'
import { EVENT_TYPES } from '../events/types.js'
import { type BreakFilter, Severity } from '../peg/break-filter.js'
import { defineOptionalRow, defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime, unixSeconds } from '../store/values.js'
import { WEBHOOK_FORMATS } from './formats.js'

/** Why a subscription is disabled: by the admin, because its receiver answered 410, or because it failed for days. */
export const DISABLED_REASONS = ['admin', 'gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const SUBSCRIPTION_STATES = ['enabled', 'disabled', 'deleted'] as const

/** One version of a subscription; the columns are described in clickhouse/schema. */
const Subscription = z.object({
  id: z.string(),
  version: z.int(),
  label: z.string(),
  /** Where deliveries are sent. If `sealed_url` is not empty, only as much of that as may be shown. */
  url: z.string(),
  /** Encrypted, if whoever knows the URL can post; else empty. */
  sealed_url: z.string(),
  event_types: z.array(z.enum(EVENT_TYPES)),
  /** Lower case; empty for all stables. */
  stable_filter: z.array(z.string()),
  /** The peg breaks that are sent: empty and 0 do not filter. */
  severity: Severity.or(z.literal('')),
  min_bps: z.number(),
  min_seconds: z.int(),
  min_size: z.int(),
  /** The least severity of events; empty for any. */
  min_severity: Level.or(z.literal('')),
  format: z.enum(WEBHOOK_FORMATS),
  /** Of a format that needs one; else empty. */
  chat_id: z.string(),
  /** The quiet hours, HH:MM in an IANA zone; all empty if it has none. */
  quiet_from: z.string(),
  quiet_to: z.string(),
  quiet_zone: z.string(),
  /** Whether critical events are never held. */
  critical_passes: z.boolean(),
  /** Events are held up to the next multiple of so many minutes; 0 if they are not. */
  digest_minutes: z.int(),
  state: z.enum(SUBSCRIPTION_STATES),
  /** Empty unless it is disabled. */
  reason: z.enum([...DISABLED_REASONS, '']),
  /** Encrypted, as are all secrets here. */
  secret: z.string(),
  /** Empty if there is none. */
  previous_secret: z.string(),
  previous_secret_until: dateTime.nullable(),
  /** Events up to this number in the log are not sent. */
  after_sequence: z.int(),
  created_at: dateTime,
  changed_at: dateTime,
})
export type Subscription = z.infer<typeof Subscription>

/**
 * Whether an event passes a subscription's filter, regardless of the subscription's state. Events about the service
 * concern every stable, and a retraction goes where the event went that it takes back.
 */
export function wants(
  {
    event_types,
    stable_filter,
    min_severity,
    ...breaks
  }: Pick<Subscription, 'event_types' | 'stable_filter' | 'min_severity' | keyof BreakFilter>,
  event: FilteredEvent,
): boolean {
  if (!reachesLevel(event, min_severity)) return false
  return passes(event, { ...breaks, types: event_types, stables: stable_filter.length > 0 ? stable_filter : undefined })
}

/** The encrypted secrets that sign deliveries sent at `at`, newest first: two for a while after a rotation. */
export function sealedSecrets(
  {
    secret,
    previous_secret,
    previous_secret_until,
  }: Pick<Subscription, 'secret' | 'previous_secret' | 'previous_secret_until'>,
  at: Date,
): string[] {
  const isPreviousGood = previous_secret_until !== null && at < previous_secret_until
  return isPreviousGood ? [secret, previous_secret] : [secret]
}

/** The request that created a version. */
type SubscriptionRequest = {
  /** Random; identifies this one request. */
  change: string
  /** Identifies repeats of the request; empty if it cannot be repeated. */
  request_key: string
  /** The body, which a repeat must match; empty without a `request_key`. */
  request_body: string
}

/**
 * Adds a version of a subscription. If two writers add the same version, the second changes nothing and reads the first
 * one's `change`.
 */
export function insertWebhookSubscription(
  clickhouse: ClickHouseClient,
  subscription: Subscription,
  request: SubscriptionRequest,
): Promise<void> {
  const { previous_secret_until, created_at, changed_at, ...values } = subscription
  const row = {
    ...values,
    ...request,
    previous_secret_until: previous_secret_until && unixSeconds(previous_secret_until),
    created_at: unixSeconds(created_at),
    changed_at: unixSeconds(changed_at),
  }
  return insertRows(clickhouse, 'webhook_subscriptions', [row], `${subscription.id}:${subscription.version}`)
}

/** A version with the request that created it. */
const RequestedVersion = Subscription.extend({
  change: z.string(),
  request_key: z.string(),
  request_body: z.string(),
})

const COLUMNS = `
  id, version, label, url, sealed_url, event_types, stable_filter, severity, min_bps, min_seconds, min_size, min_severity,
  format, chat_id, quiet_from, quiet_to, quiet_zone, critical_passes, digest_minutes, state, reason, secret, previous_secret, previous_secret_until, toUInt32(after_sequence) AS after_sequence, created_at, changed_at`

const NEWEST = `SELECT ${COLUMNS} FROM webhook_subscriptions`

/** The newest version of a subscription, including a deleted one; null if there is none. */
export const webhookSubscription = defineOptionalRow({
  name: 'webhook_subscription',
  params: z.object({ id: z.string() }),
  row: Subscription,
  sql: `${NEWEST} WHERE id = {id: String} ORDER BY version DESC LIMIT 1`,
})

/** All subscriptions except deleted ones. */
export const allWebhookSubscriptions = defineQuery({
  name: 'all_webhook_subscriptions',
  row: Subscription,
  sql: `SELECT * FROM (${NEWEST} ORDER BY id, version DESC LIMIT 1 BY id) WHERE state != 'deleted'`,
})

/**
 * The position at which a page of subscriptions, newest first, continues: after the one created at this time, in
 * milliseconds, with this id.
 */
export const WebhookPosition = z.tuple([z.int().nonnegative(), z.string().max(100)])

/** All subscriptions except deleted ones, newest first, at most `limit` of those after a position. */
export const listedWebhookSubscriptions = defineQuery({
  name: 'listed_webhook_subscriptions',
  params: z
    .object({ limit: z.int(), after: WebhookPosition.default([Number.MAX_SAFE_INTEGER, '']) })
    .transform(({ limit, after: [after_ms, after_id] }) => ({ limit, after_ms, after_id })),
  row: Subscription,
  sql: `
    SELECT * FROM (${NEWEST} ORDER BY id, version DESC LIMIT 1 BY id)
    WHERE state != 'deleted' AND (toUnixTimestamp64Milli(created_at), id) < ({after_ms: Int64}, {after_id: String})
    ORDER BY created_at DESC, id DESC
    LIMIT {limit: UInt32}`,
})

/** One version, with the request that created it; null if there is none yet. */
export const webhookSubscriptionVersion = defineOptionalRow({
  name: 'webhook_subscription_version',
  params: z.object({ id: z.string(), version: z.int() }),
  row: RequestedVersion,
  sql: `
    SELECT ${COLUMNS}, change, request_key, request_body FROM webhook_subscriptions
    WHERE id = {id: String} AND version = {version: UInt32}`,
})

/** The version that the request with this key created; null if it created none. */
export const webhookVersionOfRequest = defineOptionalRow({
  name: 'webhook_version_of_request',
  params: z.object({ request_key: z.string() }),
  row: RequestedVersion,
  sql: `
    SELECT ${COLUMNS}, change, request_key, request_body
    FROM webhook_subscriptions
    WHERE request_key = {request_key: String}
    ORDER BY version LIMIT 1`,
})

/**
 * Returns the newest version as changed, or null if there is nothing to change. The id, number and creation time it
 * returns are ignored.
 */
type SubscriptionChange = (newest: Subscription) => Promise<Subscription | null> | Subscription | null

/** The fields of a request that make it repeatable. */
export type RepeatableRequest = Pick<SubscriptionRequest, 'request_key' | 'request_body'>

const NOT_REPEATABLE: RepeatableRequest = { request_key: '', request_body: '' }

/**
 * Adds the version that `change` returns for the newest one, and resolves to it. Resolves to the newest version if
 * `change` returns null, and to null if there is no such subscription. If another writer is faster, calls `change`
 * again with that writer's version, so that no concurrent change is lost. Rejects as `change` does.
 */
export async function changeSubscription(
  clickhouse: ClickHouseClient,
  id: string,
  change: SubscriptionChange,
  request: RepeatableRequest = NOT_REPEATABLE,
): Promise<Subscription | null> {
  let tried = 0
  for (;;) {
    const newest = await webhookSubscription(clickhouse, { id })
    if (newest === null) return null
    const changed = await change(newest)
    if (changed === null) return newest
    // If a writer is killed after its token was recorded and before its row was, its number stays unused.
    tried = Math.max(newest.version, tried) + 1
    const version = { ...changed, id, version: tried, created_at: newest.created_at }
    if (await addVersion(clickhouse, version, request)) return version
  }
}

/** Adds a version unless another writer already has; resolves to whether this call added it. */
export async function addVersion(
  clickhouse: ClickHouseClient,
  version: Subscription,
  request: RepeatableRequest = NOT_REPEATABLE,
): Promise<boolean> {
  const change = randomUUID()
  await insertWebhookSubscription(clickhouse, version, { ...request, change })
  const stored = await webhookSubscriptionVersion(clickhouse, version)
  return stored?.change === change
}
