import type { ClickHouseClient } from '@clickhouse/client'
import { insertEvents, knownEvents, newestSequence } from '../../clickhouse/events/log.js'
import { type Searched, unannounced } from '../../clickhouse/events/standing.js'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { appendNumbered } from '../../clickhouse/store/append-numbered.js'
import type { Slot } from '../schedule/run-slots.js'

type Announcer = Pick<Slot, 'at' | 'revision'>

/**
 * Adds the events that are not in the log yet, in the order given. However often an event is found, by whichever
 * process, and whenever a process is killed, it is in the log once.
 */
export async function announce(
  clickhouse: ClickHouseClient,
  events: readonly FoundEvent[],
  announcer: Announcer,
): Promise<void> {
  if (events.length === 0) return
  const ids = events.map(({ id }) => id)
  await append(clickhouse, announcer, async () => {
    const known = new Set(await knownEvents(clickhouse, { ids }))
    return events.filter(({ id }) => !known.has(id))
  })
}

/**
 * Makes the log agree with what a slot has found: announces what is new, takes back what the log has for the searched
 * time and what was not found, and announces again what is found with other data. Whenever a process is killed, and
 * whatever slot or revision finds an event, it is announced once and taken back once. The slot's own token could not
 * ensure that: a slot that is done again under a higher revision has a different token and finds mostly the same events.
 */
export async function announceFound(
  clickhouse: ClickHouseClient,
  found: readonly FoundEvent[],
  searched: Searched,
  announcer: Announcer,
): Promise<void> {
  await append(clickhouse, announcer, () => unannounced(clickhouse, found, searched))
}

const append = (
  clickhouse: ClickHouseClient,
  { at, revision }: Announcer,
  missing: () => Promise<readonly FoundEvent[]>,
): Promise<void> =>
  appendNumbered({
    newest: () => newestSequence(clickhouse),
    missing,
    insert: (events, first) =>
      insertEvents(clickhouse, events, { first, slot_at: Math.floor(at.getTime() / 1000), revision }),
  })
