import { z } from 'zod'
import { defineExport } from '../store/export.js'

/** Unix seconds: buckets of `interval` begin at `first` and the last ends at `end`. */
export const SeriesParams = z.object({ stable: z.string(), interval: z.int(), first: z.int(), end: z.int() })

/** What the start of a bucket is published as, and where the bucket ends. */
export const BUCKET_COLUMNS = `
           toDateTime64(bucket, 0, 'UTC') AS bucket_start,
           toDateTime64(bucket + {interval: UInt32}, 0, 'UTC') AS bucket_end`

/**
 * A stable's price by bucket, oldest first, one row a bucket: null prices and seconds where there is no quoted sample.
 * A bucket (start, end] has the figures of a /peg window of that length as of its end, digit for digit; `open` and
 * `close` are its first and last quoted samples. From the samples themselves, because both ends of a bucket need them.
 */
export const pegSeries = defineExport({
  name: 'peg_series',
  params: SeriesParams,
  sql: `
    SELECT ${BUCKET_COLUMNS},
           open / 1e6 AS open, high / 1e6 AS high, low / 1e6 AS low, close / 1e6 AS close,
           intDiv(200 * total + sample_count, 2 * nullIf(sample_count, 0)) / 1e8 AS mean,
           if(sample_count = 0, NULL, outside_10bps) AS seconds_outside_10bps,
           if(sample_count = 0, NULL, outside_50bps) AS seconds_outside_50bps,
           sample_count, unquoted_count
    FROM
    (
        SELECT bucket,
               argMin(price, block_number) AS open, max(price) AS high, min(price) AS low, argMax(price, block_number) AS close,
               ifNull(sum(price), 0) AS total,
               toUInt32(sumIf(seconds, ifNull(distance > 1000, false))) AS outside_10bps,
               toUInt32(sumIf(seconds, ifNull(distance > 5000, false))) AS outside_50bps,
               toUInt32(count(price)) AS sample_count, toUInt32(countIf(price IS NULL)) AS unquoted_count
        FROM
        (
            SELECT intDiv(toUnixTimestamp(block_time) - 1, {interval: UInt32}) * {interval: UInt32} AS bucket, block_number,
                   sell_micros AS price, abs(toInt32(sell_micros) - 1000000) AS distance,
                   least(elapsed_seconds, toUnixTimestamp(block_time) - bucket) AS seconds
            FROM peg_samples
            WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32}
        )
        GROUP BY bucket
        ORDER BY bucket WITH FILL FROM {first: UInt32} TO {end: UInt32} STEP {interval: UInt32}
    )
    ORDER BY bucket`,
})
