import { z } from 'zod'
import { BlockRanges, IN_RANGES } from '../chain/invariants.js'
import { defineQuery, defineRow } from '../store/define-query.js'

/**
 * The first ten minutes, up to the minute of a time in unix seconds, whose state differs from the sums of their
 * samples, with the total number in `differing`.
 */
export const differingMinutes = defineQuery({
  name: 'differing_minutes',
  params: z.object({ to: z.int() }),
  row: z.object({ stable: z.string(), minute: z.string(), differing: z.int() }),
  sql: `
    SELECT stable, toString(minute_end) AS minute, toUInt32(count() OVER ()) AS differing
    FROM
    (
        SELECT stable, minute_end, quoted, unquoted, d1, d2, low, high, outside_10bps, outside_50bps, last, sum(side) AS surplus
        FROM
        (
            SELECT stable, minute_end, sum(quoted_count) AS quoted, sum(unquoted_count) AS unquoted,
                   sum(deviation_sum) AS d1, sum(deviation_square_sum) AS d2, min(deviation_min) AS low, max(deviation_max) AS high,
                   sum(seconds_outside_10bps) AS outside_10bps, sum(seconds_outside_50bps) AS outside_50bps, max(last_quoted) AS last, 1 AS side
            FROM peg_minutes WHERE minute_end <= toStartOfMinute(toDateTime({to: UInt32}, 'UTC') + 59) GROUP BY stable, minute_end
            UNION ALL
            SELECT stable, toDateTime(intDiv(toUnixTimestamp(block_time) + 59, 60) * 60, 'UTC') AS minute_end,
                   countIf(sell_micros IS NOT NULL), countIf(sell_micros IS NULL),
                   ifNull(sum(toInt64(sell_micros) - 1000000), 0), ifNull(sum(toUInt64(pow(toInt64(sell_micros) - 1000000, 2))), 0),
                   toInt32(min(toInt64(sell_micros)) - 1000000), toInt32(max(toInt64(sell_micros)) - 1000000),
                   sumIf(elapsed_seconds, sell_micros NOT BETWEEN 999000 AND 1001000),
                   sumIf(elapsed_seconds, sell_micros NOT BETWEEN 995000 AND 1005000),
                   ifNull(maxIf((block_number, toInt32(assumeNotNull(sell_micros)) - 1000000), sell_micros IS NOT NULL), (0, 0)), -1 AS side
            FROM peg_samples WHERE minute_end <= toStartOfMinute(toDateTime({to: UInt32}, 'UTC') + 59) GROUP BY stable, minute_end
        )
        GROUP BY ALL
        HAVING surplus != 0
    )
    ORDER BY stable, minute_end
    LIMIT 10`,
})

/** How many samples a stable has in these ranges of blocks, and how many distinct blocks they are from. */
export const sampleCounts = defineRow({
  name: 'sample_counts',
  params: z.object({ stable: z.string(), ranges: BlockRanges }),
  row: z.object({ samples: z.int(), sampled_blocks: z.int() }),
  sql: `
    SELECT toUInt32(count()) AS samples, toUInt32(uniqExact(block_number)) AS sampled_blocks
    FROM peg_samples WHERE stable = {stable: String} AND ${IN_RANGES}`,
})
