import type { ClickHouseClient } from '@clickhouse/client'
import type { EventType } from '../events/types.js'
import { insertRows } from '../store/insert.js'
import { unixSeconds } from '../store/values.js'

/** A delivery before it has a number; the columns are described in the migration. */
export type NewDelivery = {
  subscription_id: string
  kind: 'event' | 'test' | 'replay'
  event_id: string
  event_sequence: number
  event_type: EventType
  data: Record<string, unknown>
  cause: string
  event_at: Date
}

/**
 * Adds deliveries under the numbers from `first` on. Does nothing, and does not say so, where another writer has taken
 * `first`.
 */
export function insertWebhookDeliveries(
  clickhouse: ClickHouseClient,
  deliveries: readonly NewDelivery[],
  first: number,
): Promise<void> {
  const rows = deliveries.map((delivery, i) => ({
    ...delivery,
    delivery_id: first + i,
    data: JSON.stringify(delivery.data),
    event_at: unixSeconds(delivery.event_at),
  }))
  return insertRows(clickhouse, 'webhook_deliveries', rows, `${first}`)
}
