import type { ClickHouseClient } from '@clickhouse/client'
import { EVENT_TYPES } from '../../clickhouse/events/types.js'
import { addVersion, type Subscription } from '../../clickhouse/webhooks/subscriptions.js'
import { seal } from '../../process/sealed-secret.js'

/** The key that encrypts secrets in test databases. */
export const SECRETS_KEY = Buffer.alloc(32, 5)

let made = 0

/**
 * A first version of a subscription to everything, at an address where nothing listens. `secret` is plain text and is
 * encrypted here.
 */
export function webhookSubscription(given: Partial<Subscription> = {}): Subscription {
  made += 1
  const id = given.id ?? `wh_${made.toString(16).padStart(16, '0')}`
  const at = new Date('2026-07-01T00:00:00.123Z')
  return {
    id,
    version: 1,
    label: 'of a test',
    url: 'https://receiver.test/hook',
    event_types: [...EVENT_TYPES],
    stable_filter: [],
    severity: '',
    min_bps: 0,
    min_seconds: 0,
    min_size: 0,
    min_severity: '',
    format: 'plumbline',
    chat_id: '',
    quiet_from: '',
    quiet_to: '',
    quiet_zone: '',
    critical_passes: false,
    digest_minutes: 0,
    sealed_url: '',
    state: 'enabled',
    reason: '',
    previous_secret: '',
    previous_secret_until: null,
    after_sequence: 0,
    created_at: at,
    changed_at: at,
    ...given,
    secret: seal(SECRETS_KEY, id, given.secret ?? 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'),
  }
}

/** Adds the subscription as the admin route would. */
export async function addWebhookSubscription(
  clickhouse: ClickHouseClient,
  given: Partial<Subscription> = {},
): Promise<Subscription> {
  const subscription = webhookSubscription(given)
  await addVersion(clickhouse, subscription)
  return subscription
}
