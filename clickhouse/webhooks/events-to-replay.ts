import { z } from 'zod'
import { EVENT_COLUMNS, EVENT_FILTER, LoggedEvent } from '../events/logged-event.js'
import { defineQuery } from '../store/define-query.js'
import { STATE_OF_ATTEMPTS } from './delivery-states.js'

/**
 * Events of the log that became known in a time and that pass a filter, which has types and may have stables, in the order of
 * the log, at most `limit`. With `undelivered_to` only those of which no delivery to this subscription was successful or is
 * still to be tried, deliveries of the same `cause` aside.
 */
export const eventsToReplay = defineQuery({
  name: 'webhook_events_to_replay',
  params: z.object({
    since: z.date(),
    before: z.date(),
    types: z.array(z.string()).min(1),
    stables: z.array(z.string()),
    undelivered_to: z.string().default(''),
    cause: z.string(),
    limit: z.int(),
  }),
  row: LoggedEvent,
  sql: `
    SELECT ${EVENT_COLUMNS}
    FROM events
    WHERE recorded_at >= {since: DateTime64(3)} AND recorded_at < {before: DateTime64(3)} AND ${EVENT_FILTER}
      AND id NOT IN
      (
          SELECT event_id FROM webhook_deliveries
          WHERE subscription_id = {undelivered_to: String} AND cause != {cause: String} AND delivery_id NOT IN
          (
              SELECT delivery_id FROM webhook_attempts
              WHERE subscription_id = {undelivered_to: String}
              GROUP BY delivery_id HAVING ${STATE_OF_ATTEMPTS} IN ('failed', 'canceled')
          )
      )
    ORDER BY sequence_number LIMIT {limit: UInt32}`,
})
