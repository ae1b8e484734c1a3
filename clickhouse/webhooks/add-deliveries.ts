import type { ClickHouseClient } from '@clickhouse/client'
import { appendNumbered } from '../store/append-numbered.js'
import { knownDeliveries } from './known-deliveries.js'
import { newestDelivery } from './newest-delivery.js'
import { insertWebhookDeliveries, type NewDelivery } from './webhook-deliveries.js'

/** Deliveries that are added at once: the ids of their events travel in the address of a query. */
const MOST_AT_ONCE = 1000

type Key = Pick<NewDelivery, 'subscription_id' | 'event_id' | 'cause'>

const keyOf = ({ subscription_id, event_id, cause }: Key): string => `${subscription_id} ${event_id} ${cause}`

/**
 * Adds those deliveries that are not there yet, and resolves to the numbers of all, in the order given. The same
 * subscription, event and cause make the same delivery, however often and by however many it is asked for.
 */
export async function addDeliveries(clickhouse: ClickHouseClient, wanted: readonly NewDelivery[]): Promise<number[]> {
  const ids = new Map<string, number>()
  for (let i = 0; i < wanted.length; i += MOST_AT_ONCE) {
    const chunk = new Map(wanted.slice(i, i + MOST_AT_ONCE).map((delivery) => [keyOf(delivery), delivery]))
    const event_ids = [...new Set([...chunk.values()].map(({ event_id }) => event_id))]
    await appendNumbered({
      newest: async () => (await newestDelivery(clickhouse, {}))[0]?.delivery_id ?? 0,
      missing: async () => {
        for (const known of await knownDeliveries(clickhouse, { event_ids })) ids.set(keyOf(known), known.delivery_id)
        return [...chunk].filter(([key]) => !ids.has(key)).map(([, delivery]) => delivery)
      },
      insert: (missing, first) => insertWebhookDeliveries(clickhouse, missing, first),
    })
  }
  return wanted.map((delivery) => ids.get(keyOf(delivery)) as number)
}
