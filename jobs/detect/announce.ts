import type { ClickHouseClient } from '@clickhouse/client'
import { insertEvents, knownEvents, newestSequence } from '../../clickhouse/events/log.js'
import { type FoundInSlot, unannounced } from '../../clickhouse/events/standing.js'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { appendNumbered } from '../../clickhouse/store/append-numbered.js'
import type { Slot } from '../schedule/run-slots.js'

type Announcer = Pick<Slot, 'at' | 'revision'>

/** The events as announced by a slot. */
const announcedBy = (events: readonly FoundEvent[], { at, revision }: Announcer) =>
  events.map((event) => ({ ...event, slot_at: Math.floor(at.getTime() / 1000), revision }))

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
  await append(clickhouse, async () => {
    const announced = new Set(await knownEvents(clickhouse, { ids }))
    return announcedBy(
      events.filter(({ id }) => !announced.has(id)),
      announcer,
    )
  })
}

/**
 * Makes the log agree with what consecutive slots of one revision have found among the events of some types: for each slot in
 * turn, announces what is new, takes back what the log has for its time and what was not found, and announces again what is found
 * with other data. Whenever a process is killed, and whatever slot or revision finds an event, it is announced once and taken back
 * once. The slots' own tokens could not ensure that: a slot that is done again under a higher revision has a different token and
 * finds mostly the same events.
 */
export async function announceFound(
  clickhouse: ClickHouseClient,
  slots: readonly FoundInSlot[],
  types: readonly FoundEvent['type'][],
  { revision }: Pick<Slot, 'revision'>,
): Promise<void> {
  await append(clickhouse, async () => {
    const missing = await unannounced(clickhouse, slots, [...types])
    return slots.flatMap(({ at }, i) => announcedBy(missing[i] ?? [], { at, revision }))
  })
}

const append = (clickhouse: ClickHouseClient, missing: () => Promise<ReturnType<typeof announcedBy>>): Promise<void> =>
  appendNumbered({
    newest: () => newestSequence(clickhouse),
    missing,
    insert: (events, first) => insertEvents(clickhouse, events, { first }),
  })
