import type { ClickHouseClient } from '@clickhouse/client'
import { knownEvents } from '../clickhouse/queries/known-events.js'
import { newestEvent } from '../clickhouse/queries/newest-event.js'
import { insertEvents } from '../clickhouse/tables/events.js'
import type { FoundEvent } from '../domain/webhook-event.js'
import type { Slot } from './slot.js'

/**
 * Adds those of `events` to the log that are not in it, in the order given. However often the same are found, by
 * whichever process, slot or revision, and wherever one of them was killed, each is in the log once. A slot's own token
 * would not do for that: a slot that is done again under a higher revision has another one, and finds most of the same.
 */
export async function announce(
  clickhouse: ClickHouseClient,
  events: readonly FoundEvent[],
  { at, revision }: Pick<Slot, 'at' | 'revision'>,
): Promise<void> {
  if (events.length === 0) return
  const ids = events.map(({ id }) => id)
  let tried = 0
  for (;;) {
    // In this order: whatever is recorded after the first look makes the insert below do nothing.
    const [newest] = await newestEvent(clickhouse, {})
    const known = new Set((await knownEvents(clickhouse, { ids })).map(({ id }) => id))
    const missing = events.filter(({ id }) => !known.has(id))
    if (missing.length === 0) return
    // A kill between the note of an insert's token and its rows has used a number up.
    tried = Math.max(newest?.sequence ?? 0, tried) + 1
    await insertEvents(clickhouse, missing, { first: tried, slot_at: Math.floor(at.getTime() / 1000), revision })
  }
}
