import { z } from 'zod'
import { Level } from '../../../clickhouse/events/levels.js'
import { EVENT_TYPES } from '../../../clickhouse/events/types.js'
import { Address } from '../../../clickhouse/store/values.js'
import { FORMATS, formatsThat, WEBHOOK_FORMATS } from '../../../clickhouse/webhooks/formats.js'
import { isTimeZone } from '../../../clickhouse/webhooks/holding.js'
import { DISABLED_REASONS, SUBSCRIPTION_STATES, type Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { BreakFilterFields } from '../../answers/break-filter.js'

const eventTypes = z.array(z.enum(EVENT_TYPES))
const TYPES = { description: 'The event types it receives' }
const STABLES = 'Only events about one of these stables are sent; a flow matches at either end'

const bodies = [...new Set(Object.values(FORMATS).map(({ description }) => description))]
const bodyText = (body: string): string => `${formatsThat(({ description }) => description === body)} (${body})`
const Format = z
  .enum(WEBHOOK_FORMATS)
  .meta({ description: `How an event is written: ${bodies.map(bodyText).join(', ')}` })
const MIN_SEVERITY = {
  description:
    'Only events of at least this severity: critical are severe breaks, lost quotes, and ingest or sampling that lag; warning are mild ' +
    'breaks and the rest of the service; info are flow anomalies',
}
const CHAT_ID = {
  description: `Of the format ${formatsThat(({ needsChat }) => needsChat)}: the chat that gets the messages, a number or @channel`,
}

const CLOCK = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day, HH:MM')
const quietHours = {
  from: CLOCK.meta({ description: 'Start of the quiet hours of each day, HH:MM', examples: ['22:00'] }),
  to: CLOCK.meta({ description: 'Their end; if it is before the start, on the next day', examples: ['07:00'] }),
  time_zone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'must be the name of an IANA time zone')
    .meta({ description: 'IANA time zone of both', examples: ['Europe/Berlin'] }),
  critical_passes: z.boolean().meta({
    description: 'Whether critical events are sent at once at all times, also if there is a digest',
  }),
}
const GivenQuietHours = z
  .strictObject({ ...quietHours, critical_passes: quietHours.critical_passes.default(true) })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'must differ from the start' })
const NOT_WITH = `Not with the format ${formatsThat(({ whyNeverHeld }) => whyNeverHeld !== null)}`
const QUIET_HOURS = {
  description: `In these hours events wait, and come in one message at the end. ${NOT_WITH}`,
}
const DIGEST_MINUTES = {
  description:
    'Events wait for the next multiple of so many minutes (of 60 the full hour, of 1440 midnight UTC) and come in one message, after ' +
    `quiet hours if it is in them. ${NOT_WITH}`,
}
const DigestMinutes = z.int().min(5).max(1440)

/** A subscription as it is published: everything except its secret. */
export const SubscriptionShape = z.object({
  id: z.string().meta({ description: 'Identifies the subscription', examples: ['wh_6f1d0b9a52c3e874'] }),
  label: z.string().meta({ description: 'Whose it is, or what it is for' }),
  url: z.string().meta({
    description:
      'Where deliveries are sent, in the spelling that is called. Of a chat service only the host: who knows the rest can post',
  }),
  event_types: eventTypes.meta(TYPES),
  stable_filter: z
    .array(z.string())
    .nullable()
    .meta({ description: `${STABLES}; null: all. Events of the service itself are always sent` }),
  ...BreakFilterFields,
  min_severity: Level.nullable().meta({ description: `${MIN_SEVERITY.description}; null: any` }),
  format: Format,
  chat_id: z
    .string()
    .nullable()
    .meta({ description: `${CHAT_ID.description}; else null` }),
  quiet_hours: z
    .object(quietHours)
    .nullable()
    .meta({ description: `${QUIET_HOURS.description}; null: none` }),
  digest_minutes: DigestMinutes.nullable().meta({ description: `${DIGEST_MINUTES.description}; null: no digest` }),
  state: z.enum(SUBSCRIPTION_STATES).meta({ description: 'Deliveries are sent while it is enabled' }),
  reason: z.enum(DISABLED_REASONS).nullable().meta({
    description:
      'Why it is disabled: by the admin, because its receiver answered 410 Gone, or because it has been failing for days; else null',
  }),
  previous_secret_until: z.iso.datetime().nullable().meta({
    description: 'Until this time, deliveries are also signed with the previous secret; null if they are not',
  }),
  created_at: z.iso.datetime().meta({ description: 'When it was created' }),
  changed_at: z.iso.datetime().meta({ description: 'When it was changed last' }),
})

/** A subscription with its secret, for the answers that return it. */
export const SubscriptionWithSecret = SubscriptionShape.extend({
  secret: z.string().meta({ description: 'What deliveries are signed with, all of it, whsec_ included' }),
})

/** A subscription in its published form. */
export function published(subscription: Subscription, now: Date): z.input<typeof SubscriptionShape> {
  const { id, label, url, format, event_types, stable_filter } = subscription
  const { severity, min_bps, min_seconds, min_size, min_severity, chat_id } = subscription
  const { quiet_from: from, quiet_to: to, quiet_zone: time_zone, critical_passes, digest_minutes } = subscription
  const { state, reason, previous_secret_until: until } = subscription
  return {
    id,
    label,
    url,
    event_types,
    stable_filter: stable_filter.length > 0 ? stable_filter : null,
    severity: severity || null,
    min_bps: min_bps || null,
    min_seconds: min_seconds || null,
    min_size: min_size || null,
    min_severity: min_severity || null,
    format,
    chat_id: chat_id || null,
    quiet_hours: from === '' ? null : { from, to, time_zone, critical_passes },
    digest_minutes: digest_minutes || null,
    state,
    reason: reason === '' ? null : reason,
    previous_secret_until: until !== null && now < until ? until.toISOString() : null,
    created_at: subscription.created_at.toISOString(),
    changed_at: subscription.changed_at.toISOString(),
  }
}

const MOST_STABLES = 500

const fields = {
  label: z
    .string()
    .trim()
    .max(100)
    // A lone surrogate is not valid text and could not be stored.
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters')
    .meta({ description: 'Whose it is, or what it is for' }),
  url: z
    .string()
    .min(1)
    .max(2048)
    .regex(/^\P{Cs}*$/u, 'must be text')
    .meta({
      description: 'Where deliveries are to be sent: https, or http, which is discouraged',
      examples: ['https://example.com/hooks/plumbline'],
    }),
  event_types: eventTypes
    .min(1)
    .max(100)
    .transform((types) => [...new Set(types)])
    .meta(TYPES),
  stable_filter: z
    .array(Address)
    .min(1, 'must have at least one address, or be omitted')
    .max(MOST_STABLES)
    .transform((stables) => [...new Set(stables)])
    .nullable()
    .meta({ description: `${STABLES}; all if omitted or null` }),
  ...BreakFilterFields,
  min_severity: Level.nullable().meta({ description: `${MIN_SEVERITY.description}; any if omitted or null` }),
  format: Format,
  chat_id: z
    .string()
    .regex(/^(-?\d{1,20}|@[A-Za-z]\w{3,31})$/, 'must be the number of a chat or @channel')
    .nullable()
    .meta({
      description: `${CHAT_ID.description}; required there, and refused in other formats`,
      examples: ['-1001234567890'],
    }),
  quiet_hours: GivenQuietHours.nullable().meta({ description: `${QUIET_HOURS.description}; none if omitted or null` }),
  digest_minutes: DigestMinutes.nullable().meta({
    description: `${DIGEST_MINUTES.description}; none if omitted or null`,
  }),
}

/** The fields of a new subscription. */
export const NewSubscription = z.strictObject({
  label: fields.label.default(''),
  url: fields.url,
  event_types: fields.event_types,
  stable_filter: fields.stable_filter.default(null),
  severity: fields.severity.optional(),
  min_bps: fields.min_bps.optional(),
  min_seconds: fields.min_seconds.optional(),
  min_size: fields.min_size.optional(),
  min_severity: fields.min_severity.optional(),
  format: fields.format.default('plumbline'),
  chat_id: fields.chat_id.optional(),
  quiet_hours: fields.quiet_hours.optional(),
  digest_minutes: fields.digest_minutes.optional(),
})

/** The fields of a subscription to change. */
export const ChangedSubscription = z.strictObject(fields).partial()

/** The health of a subscription. */
export const HealthShape = z.object({
  last_success_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'When an attempt last succeeded; null if none has' }),
  failing_since: z.iso.datetime().nullable().meta({
    description: 'First failure since the last success or change; null if there is none',
  }),
  attempts_24h: z.int().meta({ description: 'Attempts of the last 24 hours' }),
  successes_24h: z.int().meta({ description: 'How many of them succeeded' }),
  pending: z.int().meta({ description: 'Pending deliveries' }),
})
