import type { ClickHouseClient } from '@clickhouse/client'
import { insertEvents, knownEvents, newestSequence } from '../../clickhouse/events/log.js'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { appendNumbered } from '../../clickhouse/store/append-numbered.js'
import type { Slot } from '../schedule/run-slots.js'

/**
 * Adds the events that are not in the log yet, in the order given. However often an event is found, by whichever
 * process, slot or revision, and whenever a process is killed, it is in the log once. The slot's own token could not
 * ensure that: a slot that is done again under a higher revision has a different token and finds mostly the same
 * events.
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
