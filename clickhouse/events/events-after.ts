import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { EVENT_COLUMNS, EVENT_FILTER, EventFilterParams, LoggedEvent, withFilter } from './logged-event.js'

/** The events with `after` < number <= `until` that pass the filter, in the order of the log, at most `limit`. */
export const eventsAfter = defineQuery({
  name: 'events_after',
  params: z.object({ after: z.int(), until: z.int(), limit: z.int(), ...EventFilterParams }).transform(withFilter),
  row: LoggedEvent,
  sql: `
    SELECT ${EVENT_COLUMNS}
    FROM events
    WHERE sequence_number > {after: UInt64} AND sequence_number <= {until: UInt64} AND ${EVENT_FILTER}
    ORDER BY sequence_number LIMIT {limit: UInt32}`,
})
