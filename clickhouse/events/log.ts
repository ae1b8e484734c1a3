import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import {
  type BreakFilter,
  BreakFilterParams,
  breakCondition,
  breakPasses,
  type FilteredBreak,
} from '../peg/break-filter.js'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { insertRows } from '../store/insert.js'
import { type FoundEvent, RecordedEvent } from './types.js'

/**
 * Adds events to the log with consecutive numbers that start at `first`, each with the slot that found it, in unix seconds, and
 * the slot's revision. Silently does nothing if another writer has already used `first`.
 */
export function insertEvents(
  clickhouse: ClickHouseClient,
  events: readonly (FoundEvent & { slot_at: number; revision: number })[],
  { first }: { first: number },
): Promise<void> {
  const rows = events.map(({ occurred_at, data, retracted_type = '', ...event }, i) => ({
    sequence_number: first + i,
    ...event,
    retracted_type,
    occurred_at: Math.floor(occurred_at.getTime() / 1000),
    data: JSON.stringify(data),
  }))
  return insertRows(clickhouse, 'events', rows, `${first}`)
}

/** An event as read from the log; `EVENT_COLUMNS` selects its columns. */
export const LoggedEvent = RecordedEvent.extend({ sequence: z.int(), retracted_type: z.string() })
export type LoggedEvent = z.infer<typeof LoggedEvent>

export const EVENT_COLUMNS =
  'toUInt32(sequence_number) AS sequence, id, type, stables, retracted_type, occurred_at, recorded_at, data'

/**
 * The events that a reader or subscriber wants. An absent field does not filter. Addresses in lower case. What breaks are
 * wanted does not concern other events.
 */
export type EventFilter = BreakFilter & {
  types?: string[] | undefined
  stables?: string[] | undefined
}

/** What a filter looks at in an event. */
export type FilteredEvent = {
  type: string
  stables: readonly string[]
  retracted_type?: string
  occurred_at: Date
  data: Record<string, unknown>
}

/**
 * The break that an event is about, or that the event which it takes back is about, as that event describes it: a break
 * has lasted until it occurred. Null for other events.
 */
function breakOf({ type, retracted_type, occurred_at, data }: FilteredEvent): FilteredBreak | null {
  if (!(retracted_type || type).includes('_break.')) return null
  const described = (retracted_type ? (data.original ?? {}) : data) as Record<string, unknown>
  const { severity, max_deviation_bps, started_at, standing_tokens } = described
  const duration_seconds = (occurred_at.getTime() - Date.parse(`${started_at}`)) / 1000
  return { severity, max_deviation_bps, duration_seconds, standing_tokens }
}

/**
 * Whether an event passes a filter. A retraction passes where the event that it takes back does, so that everyone who
 * received that one learns of it. Stables match either end of an edge. An event without stables is about the service
 * itself, on which every subscriber depends, so it passes every filter of stables.
 */
export function passes(event: FilteredEvent, { types, stables, ...filter }: EventFilter): boolean {
  if (types !== undefined && !types.includes(event.type) && !types.includes(event.retracted_type ?? '')) return false
  const about = breakOf(event)
  if (about !== null && !breakPasses(about, filter)) return false
  return stables === undefined || event.stables.length === 0 || event.stables.some((stable) => stables.includes(stable))
}

/** The parameters that `EVENT_FILTER` needs: those of `EventFilter`. */
const EventFilterParams = {
  types: z.array(z.string()).optional(),
  stables: z.array(z.string()).optional(),
  ...BreakFilterParams,
}

/** Replaces absent fields with empty lists, which do not filter. */
const withFilter = <Params extends Pick<EventFilter, 'types' | 'stables'>>({
  types = [],
  stables = [],
  ...rest
}: Params) => ({
  ...rest,
  types,
  stables,
})

/** The data of an event, or of the event that it takes back, in SQL. */
const DESCRIBED = "if(retracted_type = '', data, JSONExtractRaw(data, 'original'))"

/** The condition of `passes`, in SQL. */
export const EVENT_FILTER = `
  (empty({types: Array(String)}) OR has({types: Array(String)}, type) OR has({types: Array(String)}, retracted_type))
  AND (empty({stables: Array(String)}) OR empty(stables) OR hasAny(stables, {stables: Array(String)}))
  AND (position(if(retracted_type = '', type, retracted_type), '_break.') = 0 OR ${breakCondition({
    severity: `JSONExtractString(${DESCRIBED}, 'severity')`,
    max_deviation_bps: `JSONExtractFloat(${DESCRIBED}, 'max_deviation_bps')`,
    duration_seconds: `toUnixTimestamp(occurred_at) - toUnixTimestamp(parseDateTimeBestEffortOrNull(JSONExtractString(${DESCRIBED}, 'started_at'), 'UTC'))`,
    standing_tokens: `JSONExtractUInt(${DESCRIBED}, 'standing_tokens')`,
  })})`

/** Of a log that is read as of an instant: only what had occurred by then. Absent, it does not filter. */
const OccurredBy = { occurred_by: z.date().default(new Date('2106-01-01')) }
const HAS_OCCURRED = 'occurred_at <= {occurred_by: DateTime64(3)}'

/** The events with `after` < number <= `until` that pass the filter, in the order of the log, at most `limit`. */
export const eventsAfter = defineQuery({
  name: 'events_after',
  params: z
    .object({ after: z.int(), until: z.int(), limit: z.int(), ...OccurredBy, ...EventFilterParams })
    .transform(withFilter),
  row: LoggedEvent,
  sql: `
    SELECT ${EVENT_COLUMNS}
    FROM events
    WHERE sequence_number > {after: UInt64} AND sequence_number <= {until: UInt64} AND ${HAS_OCCURRED} AND ${EVENT_FILTER}
    ORDER BY sequence_number LIMIT {limit: UInt32}`,
})

/** Those of `ids`, any number of them, that are in the log. */
export const knownEvents = (clickhouse: ClickHouseClient, { ids }: { ids: readonly string[] }): Promise<string[]> =>
  inParts(ids, (part) => eventsWithIds(clickhouse, { ids: part }))

const eventsWithIds = defineQuery({
  name: 'known_events',
  params: z.object({ ids: z.array(z.string()) }),
  row: onlyColumn('id', z.string()),
  sql: 'SELECT DISTINCT id FROM events WHERE id IN {ids: Array(String)}',
})

/** The number of the newest event; 0 while there is none. */
export const newestSequence = defineRow({
  name: 'newest_event',
  row: onlyColumn('sequence', z.int()),
  sql: 'SELECT toUInt32(max(sequence_number)) AS sequence FROM events',
})

/**
 * The number of the newest event that had been recorded by `known_at`, as all events before it had; 0 if there was none.
 */
export const newestSequenceBy = defineRow({
  name: 'newest_event_by',
  params: z.object({ known_at: z.date() }),
  row: onlyColumn('sequence', z.int()),
  sql: `
    WITH (SELECT sequence_number FROM events WHERE recorded_at > {known_at: DateTime64(3)} ORDER BY sequence_number LIMIT 1) AS first_later
    SELECT toUInt32(max(newest)) AS sequence
    FROM
    (
        SELECT sequence_number AS newest FROM events WHERE first_later IS NULL OR sequence_number < first_later
        ORDER BY sequence_number DESC LIMIT 1
    )`,
})

/** The newest `limit` events up to the number `until` that pass the filter, the newest first. */
export const newestEvents = defineQuery({
  name: 'newest_events',
  params: z.object({ until: z.int(), limit: z.int(), ...OccurredBy, ...EventFilterParams }).transform(withFilter),
  row: LoggedEvent,
  sql: `
    SELECT ${EVENT_COLUMNS}
    FROM events
    WHERE sequence_number <= {until: UInt64} AND ${HAS_OCCURRED} AND ${EVENT_FILTER}
    ORDER BY sequence_number DESC LIMIT {limit: UInt32}`,
})
