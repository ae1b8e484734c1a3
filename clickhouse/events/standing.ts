import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { announcedAgain, type FoundEvent, RecordedEvent, retractionOf } from './types.js'

/** What a slot has found among the events that occurred in (`after`, `at`]. */
export type FoundInSlot = { found: readonly FoundEvent[]; after: Date; at: Date }

/** An event of the log with its subject. */
const AnnouncedEvent = RecordedEvent.extend({ subject: z.string() })
export type AnnouncedEvent = z.infer<typeof AnnouncedEvent>

const COLUMNS = 'id, type, subject, stables, occurred_at, recorded_at, data'

/** The events of some types that occurred in (`after`, `to`], in the order of the log. */
const announcedWithin = defineQuery({
  name: 'announced_within',
  params: z.object({ types: z.array(z.string()), after: z.date(), to: z.date() }),
  row: AnnouncedEvent,
  sql: `
    SELECT ${COLUMNS} FROM events
    WHERE type IN {types: Array(String)} AND occurred_at > {after: DateTime} AND occurred_at <= {to: DateTime}
    ORDER BY sequence_number`,
})

/** The events of some types about these subjects, in the order of the log. */
const announcedAbout = defineQuery({
  name: 'announced_about',
  params: z.object({ types: z.array(z.string()), subjects: z.array(z.string()) }),
  row: AnnouncedEvent,
  sql: `
    SELECT ${COLUMNS} FROM events
    WHERE type IN {types: Array(String)} AND subject IN {subjects: Array(String)}
    ORDER BY sequence_number`,
})

/**
 * What each of consecutive slots has to add to the log so that the events of some types which stand are those found:
 * retractions first, then the events that do not stand yet, in the order given. Empty once they are in the log, so that whoever
 * asks again adds nothing. An event that was announced with the data and the time that are found stands. One that is found with
 * others is taken back and announced again. One that was announced in the time of a slot and is not found in it is taken back.
 */
export async function unannounced(
  clickhouse: ClickHouseClient,
  slots: readonly FoundInSlot[],
  types: FoundEvent['type'][],
): Promise<FoundEvent[][]> {
  const [first, last] = [slots[0], slots.at(-1)]
  if (!first || !last) return []
  const within = await announcedWithin(clickhouse, { types, after: first.after, to: last.at })
  const subjects = [...new Set([...within, ...slots.flatMap(({ found }) => found)].map(({ subject }) => subject))]
  const about = await inParts(subjects, (part) => announcedAbout(clickhouse, { types, subjects: part }))
  const ids = about.map(({ id }) => id)
  const retractions = await inParts(ids, (part) =>
    announcedAbout(clickhouse, { types: ['event.retracted'], subjects: part }),
  )
  const retracted = new Map(retractions.map(({ subject, id }) => [subject, id]))
  const announced: AnnouncedEvent[] = [...about]
  return slots.map(({ found, after, at }) => {
    const searched = within.filter(({ occurred_at }) => occurred_at > after && occurred_at <= at)
    const subjects = new Set([...searched, ...found].map(({ subject }) => subject))
    const eventsOfSlot = announced.filter(({ subject }) => subjects.has(subject))
    const added = difference(found, eventsOfSlot, retracted, new Set(searched.map(({ id }) => id)))
    // What a slot adds is in the log for those after it.
    for (const event of added)
      if (event.retracted_type) retracted.set(event.subject, event.id)
      else announced.push({ ...event, recorded_at: new Date() })
    return added
  })
}

/** The pure part of `unannounced`: `retracted` has the retraction of each announced event that was taken back. */
export function difference(
  found: readonly FoundEvent[],
  announced: readonly AnnouncedEvent[],
  retracted: ReadonlyMap<string, string>,
  searchedIds: ReadonlySet<string>,
): FoundEvent[] {
  const keyOf = ({ type, subject }: Pick<FoundEvent, 'type' | 'subject'>): string => `${type} ${subject}`
  const foundByKey = new Map(found.map((event) => [keyOf(event), event]))
  const newest = new Map(announced.map((event) => [keyOf(event), event]))
  const takenBack: FoundEvent[] = []
  for (const event of announced) {
    if (retracted.has(event.id)) continue
    const again = foundByKey.get(keyOf(event))
    if (again ? !isSame(event, again) : searchedIds.has(event.id))
      takenBack.push(retractionOf(event, again ? 'changed' : 'not_found'))
  }
  const added = found.flatMap((event) => {
    const before = newest.get(keyOf(event))
    if (!before) return [event]
    const retraction = retracted.get(before.id) ?? takenBack.find(({ subject }) => subject === before.id)?.id
    return retraction === undefined ? [] : [announcedAgain(event, retraction)]
  })
  return [...takenBack, ...added]
}

/**
 * Whether an event was announced as it is found now. Only fields that both have are compared, so that a version which
 * adds a field takes nothing back.
 */
function isSame(announced: AnnouncedEvent, found: FoundEvent): boolean {
  if (announced.occurred_at.getTime() !== found.occurred_at.getTime()) return false
  const data: Record<string, unknown> = JSON.parse(JSON.stringify(found.data))
  return Object.keys(data).every(
    (field) => !(field in announced.data) || JSON.stringify(announced.data[field]) === JSON.stringify(data[field]),
  )
}
