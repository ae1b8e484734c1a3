import type { ClickHouseClient } from '@clickhouse/client'
import { insertEvents, knownEvents, newestSequence } from '../../clickhouse/events/log.js'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { appendNumbered } from '../../clickhouse/store/append-numbered.js'
import type { Slot } from '../schedule/run-slots.js'

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
  const slot_at = Math.floor(at.getTime() / 1000)
  await appendNumbered({
    newest: () => newestSequence(clickhouse),
    missing: async () => {
      const known = new Set(await knownEvents(clickhouse, { ids }))
      return events.filter(({ id }) => !known.has(id))
    },
    insert: (missing, first) => insertEvents(clickhouse, missing, { first, slot_at, revision }),
  })
}
