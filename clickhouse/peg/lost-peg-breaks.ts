import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * The peg breaks that were announced as started, by slots up to `at` of a revision before `revision`, not as ended, and
 * that peg_events no longer has: neither as going on, which they may be again, nor as having lasted their minimum. To be
 * asked once the slots up to `at` have been done again.
 */
export const lostPegBreaks = defineQuery({
  name: 'lost_peg_breaks',
  params: z.object({ revision: z.int(), at: z.date() }),
  row: z.object({
    stable: z.string(),
    severity: z.enum(['mild', 'severe']),
    started_at: z.int(),
    started_block: z.int(),
    max_deviation_bps: z.number(),
  }),
  sql: `
    SELECT parts[1] AS stable, parts[2] AS severity, toUInt32(parts[3]) AS started_at, toUInt32(parts[4]) AS started_block, max_deviation_bps
    FROM
    (
        SELECT splitByChar(':', subject) AS parts, anyIf(JSONExtractFloat(data, 'max_deviation_bps'), type = 'peg_break.started') AS max_deviation_bps
        FROM events
        WHERE startsWith(type, 'peg_break.')
        GROUP BY subject
        HAVING countIf(type = 'peg_break.ended') = 0
           AND countIf(type = 'peg_break.started' AND revision < {revision: UInt32} AND slot_at <= {at: DateTime}) > 0
    )
    WHERE (stable, severity, started_at, started_block) NOT IN
          (
              SELECT stable, severity::String, toUnixTimestamp(started_at), toUInt32(started_block) FROM peg_events FINAL
              WHERE ended_at IS NULL OR confirmed_at IS NOT NULL
          )
    ORDER BY started_at, stable, severity`,
})
