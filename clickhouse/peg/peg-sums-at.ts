import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { SAMPLE, SampleTuple } from './peg-sample.js'
import { PegSumsRow } from './peg-sums.js'

/** Whole minutes that `shortest_window`, in seconds, and all longer windows contain. */
const Minutes = z.object({ ...PegSumsRow.shape, shortest_window: z.int(), minutes_ago: z.null(), newest: z.tuple([]) })

/** Samples that lie `minutes_ago` whole minutes before the instant, and the newest of them. */
const Edge = z.object({
  ...PegSumsRow.shape,
  shortest_window: z.null(),
  minutes_ago: z.coerce.number().int(),
  newest: z.tuple([SampleTuple]).transform(([sample]) => sample),
})

/**
 * A stable's sums as of an instant in the minute that ends at `last_minute`. The inner, whole minutes of the windows
 * come as minute states: all but a window's first three and last two. The samples of those, the minutes that end at
 * `minute_ends`, are summed by their age, and the time that a sample speaks for is clipped to the window it begins:
 * windows are whole hours long, so the start of each is where the age is a multiple of an hour.
 */
export const pegSumsAt = defineQuery({
  name: 'peg_sums_at',
  params: z.object({ stable: z.string(), as_of: z.date(), last_minute: z.date(), minute_ends: z.array(z.int()) }),
  row: z.union([Minutes, Edge]),
  // One statement, since a request costs more than either half, and nested rather than one level with aliases, which
  // the engine plans 2 ms faster: planning is most of the whole.
  sql: `
    SELECT multiIf(minute_end > {last_minute: DateTime} - 3480, 3600, minute_end > {last_minute: DateTime} - 86280, 86400, 604800) AS shortest_window,
           NULL AS minutes_ago, [] AS newest,
           sum(quoted_count) AS quoted_count, sum(unquoted_count) AS unquoted_count,
           sum(deviation_sum) AS deviation_sum, toInt64(sum(deviation_square_sum)) AS deviation_square_sum,
           min(deviation_min) AS deviation_min, max(deviation_max) AS deviation_max,
           sum(seconds_outside_10bps) AS seconds_outside_10bps, sum(seconds_outside_50bps) AS seconds_outside_50bps
    FROM peg_minutes
    WHERE stable = {stable: String}
      AND minute_end > {last_minute: DateTime} - 604680 AND minute_end <= {last_minute: DateTime} - 120
    GROUP BY shortest_window
    UNION ALL
    SELECT NULL, intDiv(age, 60) AS minutes_ago, [argMax(sample, block_number)],
           count(deviation), countIf(deviation IS NULL),
           sum(deviation), sum(deviation * deviation),
           min(deviation), max(deviation),
           toUInt64(sumIf(seconds, distance > 1000)), toUInt64(sumIf(seconds, distance > 5000))
    FROM
    (
        SELECT age, deviation, abs(deviation) AS distance, least(elapsed_seconds, 3600 - age % 3600) AS seconds, block_number, ${SAMPLE} AS sample
        FROM
        (
            SELECT {as_of: DateTime} - block_time AS age, sell_micros - 1000000 AS deviation,
                   elapsed_seconds, block_number, block_time, status, sell_micros, buy_micros
            FROM peg_samples
            WHERE stable = {stable: String} AND block_time <= {as_of: DateTime}
              AND toStartOfMinute(block_time + 59) IN {minute_ends: Array(DateTime)}
        )
    )
    GROUP BY minutes_ago`,
})
