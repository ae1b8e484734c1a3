import type { ClickHouseClient } from '@clickhouse/client'
import { eventsAfter, type LoggedEvent } from '../../../clickhouse/events/log.js'
import { addDeliveries, type NewDelivery } from '../../../clickhouse/webhooks/deliveries.js'
import { allWebhookSubscriptions, type Subscription, wants } from '../../../clickhouse/webhooks/subscriptions.js'

/** The maximum number of events handled at once. */
const MAX_BATCH = 500

const deliveryOf = (event: LoggedEvent, { id }: Subscription): NewDelivery => ({
  subscription_id: id,
  kind: 'event',
  event_id: event.id,
  event_sequence: event.sequence,
  event_type: event.type,
  data: event.data,
  cause: '',
  event_at: event.recorded_at,
  published_at: event.recorded_at,
})

/**
 * How long after it occurred an event was recorded, in milliseconds; of a retraction, the event that it takes back: who
 * was sent that one is sent its retraction, however late.
 */
function delayOf({ type, occurred_at, recorded_at, data }: LoggedEvent): number {
  const recorded = type === 'event.retracted' ? Date.parse(String(data.recorded_at)) : recorded_at.getTime()
  return recorded - occurred_at.getTime()
}

/**
 * The deliveries for events: one for each enabled subscription that wants the event and is older than it. Events
 * recorded more than `maxAgeMs` after they occurred have none, for example when a backfill finds last month's breaks.
 */
function deliveriesOf(
  events: readonly LoggedEvent[],
  subscriptions: readonly Subscription[],
  maxAgeMs: number,
): NewDelivery[] {
  const enabled = subscriptions.filter(({ state }) => state === 'enabled')
  return events
    .filter((event) => delayOf(event) <= maxAgeMs)
    .flatMap((event) =>
      enabled
        .filter((subscription) => subscription.after_sequence < event.sequence && wants(subscription, event))
        .map((subscription) => deliveryOf(event, subscription)),
    )
}

/**
 * Creates the deliveries for the events with `after` < number <= `until`, oldest first and a limited number at once;
 * resolves to the number of the last event that was handled. Safe to repeat: each delivery is created once.
 */
export async function fanOut(
  clickhouse: ClickHouseClient,
  { after, until, maxAgeMs }: { after: number; until: number; maxAgeMs: number },
): Promise<number> {
  const start = until - after > MAX_BATCH ? await firstWanted(clickhouse, after, until) : after
  if (start >= until) return until
  // Both are read after `until` is known, so every subscription created before one of the events was recorded is seen.
  const [events, subscriptions] = await Promise.all([
    eventsAfter(clickhouse, { after: start, until, limit: MAX_BATCH }),
    allWebhookSubscriptions(clickhouse),
  ])
  await addDeliveries(clickhouse, deliveriesOf(events, subscriptions, maxAgeMs))
  return events.length === MAX_BATCH ? (events.at(-1)?.sequence ?? until) : until
}

/**
 * The number after which some subscription wants events. Skips older events, so that the first subscription does not
 * cause a pass through the whole log.
 */
async function firstWanted(clickhouse: ClickHouseClient, after: number, until: number): Promise<number> {
  const enabled = (await allWebhookSubscriptions(clickhouse)).filter(({ state }) => state === 'enabled')
  return Math.max(after, Math.min(until, ...enabled.map(({ after_sequence }) => after_sequence)))
}
