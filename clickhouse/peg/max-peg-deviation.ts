import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * The largest distance from 1, in millionths, of a stable from the sample (`started_at`, `started_block`) on up to and
 * including `to`. Whole minutes are read as minute states, so that a long time costs little. Nothing without a price.
 */
export const maxPegDeviation = defineQuery({
  name: 'max_peg_deviation',
  params: z.object({ stable: z.string(), started_at: z.date(), started_block: z.int(), to: z.date() }),
  row: z.object({ max_deviation_micros: z.int() }),
  sql: `
    WITH toStartOfMinute({started_at: DateTime} + 59) AS first_minute_end, toStartOfMinute({to: DateTime}) AS last_minute_end
    SELECT max(distance) AS max_deviation_micros
    FROM
    (
        SELECT toUInt32(greatest(-deviation_min, deviation_max)) AS distance
        FROM peg_minutes
        WHERE stable = {stable: String} AND minute_end > first_minute_end AND minute_end <= last_minute_end
          AND deviation_min IS NOT NULL
        UNION ALL
        SELECT toUInt32(abs(toInt64(sell_micros) - 1000000))
        FROM peg_samples
        WHERE stable = {stable: String} AND sell_micros IS NOT NULL
          AND block_time >= {started_at: DateTime} AND block_time <= {to: DateTime}
          AND (block_time <= first_minute_end OR block_time > last_minute_end)
          AND (block_time, block_number) >= ({started_at: DateTime}, {started_block: UInt64})
    )
    HAVING count() > 0`,
})
