import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import type { FoundEvent } from './types.js'

/**
 * Adds events to the log under the numbers from `first` on. Does nothing, and does not say so, where another writer has
 * taken `first`. `slot_at` in unix seconds.
 */
export function insertEvents(
  clickhouse: ClickHouseClient,
  events: readonly FoundEvent[],
  { first, slot_at, revision }: { first: number; slot_at: number; revision: number },
): Promise<void> {
  const rows = events.map(({ occurred_at, data, ...event }, i) => ({
    sequence_number: first + i,
    ...event,
    occurred_at: Math.floor(occurred_at.getTime() / 1000),
    data: JSON.stringify(data),
    slot_at,
    revision,
  }))
  return insertRows(clickhouse, 'events', rows, `${first}`)
}
