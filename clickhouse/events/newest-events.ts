import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { EVENT_COLUMNS, EVENT_FILTER, EventFilterParams, LoggedEvent, withFilter } from './logged-event.js'

/** The newest `limit` events up to the number `until` that pass the filter, the newest first. */
export const newestEvents = defineQuery({
  name: 'newest_events',
  params: z.object({ until: z.int(), limit: z.int(), ...EventFilterParams }).transform(withFilter),
  row: LoggedEvent,
  sql: `
    SELECT ${EVENT_COLUMNS}
    FROM events
    WHERE sequence_number <= {until: UInt64} AND ${EVENT_FILTER}
    ORDER BY sequence_number DESC LIMIT {limit: UInt32}`,
})
