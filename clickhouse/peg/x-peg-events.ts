import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { PegExcursion } from './peg-events.js'

/** Where in a list of events, newest first, a page goes on: after the event that these belong to. */
export const PegEventKey = z.tuple([z.int().min(0).max(0xffff_ffff), z.int().min(0), PegExcursion.shape.severity])
export type PegEventKey = z.infer<typeof PegEventKey>

/** Before every event: where the first page begins. */
const NEWEST: PegEventKey = [0xffff_ffff, Number.MAX_SAFE_INTEGER, 'severe']

/**
 * A stable's events as known at `as_of`, newest first, at most `limit` of those after the key `after`. Of those that go
 * on at `as_of` the maximum is not known here: it may have been reached later. `started_key` is a row's own key.
 */
export const pegEvents = defineQuery({
  name: 'peg_events',
  params: z
    .object({ stable: z.string(), as_of: z.date(), limit: z.int(), after: PegEventKey.default(NEWEST) })
    .transform(({ after: [after_time, after_block, after_severity], ...rest }) => ({
      ...rest,
      after_time,
      after_block,
      after_severity,
    })),
  row: z.object({
    severity: PegExcursion.shape.severity,
    started_at: dateTime,
    started_block: z.int(),
    ended_at: dateTime.nullable(),
    ended_block: z.int().nullable(),
    max_deviation_micros: z.int(),
  }),
  sql: `
    SELECT severity, started_at, toUInt32(started_block) AS started_block,
           if(events.ended_at <= {as_of: DateTime}, events.ended_at, NULL) AS ended_at,
           if(events.ended_at <= {as_of: DateTime}, toUInt32(events.ended_block), NULL) AS ended_block,
           max_deviation_micros
    FROM peg_events AS events FINAL
    WHERE stable = {stable: String} AND confirmed_at <= {as_of: DateTime}
      AND (toUnixTimestamp(started_at), events.started_block, severity) < ({after_time: UInt32}, {after_block: UInt64}, {after_severity: Enum8('mild' = 1, 'severe' = 2)})
    ORDER BY events.started_at DESC, events.started_block DESC, severity DESC
    LIMIT {limit: UInt32}`,
})
