import { z } from 'zod'
import { defineExport } from '../store/export.js'
import { DEVIATION, sampleSums, selected } from './sums.js'

/** Unix seconds: buckets of `interval` begin at `first` and the last ends at `end`. */
export const SeriesParams = z.object({ stable: z.string(), interval: z.int(), first: z.int(), end: z.int() })

/** The columns with a bucket's start and end. */
export const BUCKET_COLUMNS = `
           toDateTime64(bucket, 0, 'UTC') AS bucket_start,
           toDateTime64(bucket + {interval: UInt32}, 0, 'UTC') AS bucket_end`

/**
 * A stable's price by bucket, oldest first, one row per bucket; prices and seconds are null if there is no quoted
 * sample. A bucket (start, end] has the same figures, digit for digit, as a /peg window of that length as of its end;
 * `open` and `close` are its first and last quoted samples. Reads the samples themselves, because both ends of a bucket
 * need them.
 */
export const pegSeries = defineExport({
  name: 'peg_series',
  params: SeriesParams,
  sql: `
    SELECT ${BUCKET_COLUMNS},
           open / 1e6 AS open, (1000000 + deviation_max) / 1e6 AS high, (1000000 + deviation_min) / 1e6 AS low, close / 1e6 AS close,
           intDiv(200 * (1000000 * quoted_count + deviation_sum) + quoted_count, 2 * nullIf(quoted_count, 0)) / 1e8 AS mean,
           if(quoted_count = 0, NULL, toUInt32(sums.seconds_outside_10bps)) AS seconds_outside_10bps,
           if(quoted_count = 0, NULL, toUInt32(sums.seconds_outside_50bps)) AS seconds_outside_50bps,
           toUInt32(quoted_count) AS sample_count, toUInt32(sums.unquoted_count) AS unquoted_count
    FROM
    (
        SELECT bucket,
               argMin(sell_micros, block_number) AS open, argMax(sell_micros, block_number) AS close,
               ${selected(sampleSums())}
        FROM
        (
            SELECT intDiv(toUnixTimestamp(block_time) - 1, {interval: UInt32}) * {interval: UInt32} AS bucket, block_number,
                   sell_micros, ${DEVIATION} AS deviation,
                   least(elapsed_seconds, toUnixTimestamp(block_time) - bucket) AS seconds
            FROM peg_samples
            WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32}
        )
        GROUP BY bucket
        ORDER BY bucket WITH FILL FROM {first: UInt32} TO {end: UInt32} STEP {interval: UInt32}
    ) AS sums
    ORDER BY bucket`,
})
