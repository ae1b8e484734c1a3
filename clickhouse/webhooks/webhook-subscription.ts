import { passes } from '../events/filter.js'
import type { EventType } from '../events/types.js'

/** Why a subscription is disabled: by the admin, because its receiver answered 410, or because it failed for days. */
export const DISABLED_REASONS = ['admin', 'gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const SUBSCRIPTION_STATES = ['enabled', 'disabled', 'deleted'] as const

/** Who is told of which events, as one version has it; the columns are described in the migration. */
export type Subscription = {
  id: string
  version: number
  label: string
  url: string
  event_types: EventType[]
  /** Lower case; empty: all stables. */
  stable_filter: string[]
  state: (typeof SUBSCRIPTION_STATES)[number]
  /** Empty unless it is disabled. */
  reason: DisabledReason | ''
  /** Sealed, as all secrets here. */
  secret: string
  /** Empty where there is none. */
  previous_secret: string
  previous_secret_until: Date | null
  /** Events of the log up to this one are not sent to it. */
  after_sequence: number
  created_at: Date
  changed_at: Date
}

/** Whether a subscription, in whatever state, is to be told of an event. What is about the service concerns every stable. */
export function wants(
  { event_types, stable_filter }: Pick<Subscription, 'event_types' | 'stable_filter'>,
  event: { type: string; stables: readonly string[] },
): boolean {
  return passes(event, { types: event_types, stables: stable_filter.length > 0 ? stable_filter : undefined })
}

/** The sealed secrets that sign what is sent at a time, the newest first: two for a while after a rotation. */
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
