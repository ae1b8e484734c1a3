import { z } from 'zod'
import { KnownAt, NEWEST_REVISION, SHOWN } from '../jobs/publications.js'
import { BUCKET_COLUMNS, SeriesParams } from '../peg/series.js'
import { defineOptionalRow } from '../store/define-query.js'
import { defineExport } from '../store/export.js'

/** The snapshots of the range, and the one that stood when its first bucket began. */
const IN_RANGE = `stable = {stable: String} AND slot_at <= {end: UInt32} AND ${SHOWN}
              AND slot_at >= (SELECT max(slot_at) FROM risk_snapshots WHERE stable = {stable: String} AND slot_at <= {first: UInt32} AND ${SHOWN})`

/**
 * A stable's risk by bucket, oldest first, one row per bucket: the score and its components from the newest snapshot at
 * or before the bucket's end, with the extended score of its slot, and the range of the scores within (start, end]. Null if there
 * was no snapshot. Only snapshots that were shown at `known_at` count.
 */
export const riskSeries = defineExport({
  name: 'risk_series',
  params: SeriesParams.extend({ known_at: KnownAt }),
  sql: `
    SELECT ${BUCKET_COLUMNS},
           score.1 AS composite, score.2 AS peg_risk, score.3 AS peg_break_risk, score.4 AS supply_risk, score.5 AS policy_risk,
           score.6 AS methodology, score.7 AS revision, score.8 AS published_at, composite_min, composite_max, snapshot_count,
           score.9 AS extended, score.10 AS extended_version
    FROM
    (
        SELECT bucket, argMax(figures, slot_at) AS score,
               minIf(figures.1, is_inside) AS composite_min, maxIf(figures.1, is_inside) AS composite_max,
               toUInt32(countIf(is_inside)) AS snapshot_count
        FROM
        (
            -- The snapshot that stood when the first bucket began counts for it, but is not within.
            SELECT slot_at, slot_at > {first: UInt32} AS is_inside,
                   greatest(intDiv(toUnixTimestamp(slot_at) - 1, {interval: UInt32}) * {interval: UInt32}, toInt64({first: UInt32})) AS bucket,
                   (toNullable(toFloat64(composite)), toNullable(toFloat64(peg_risk)), toNullable(toFloat64(peg_break_risk)),
                    toNullable(toFloat64(supply_risk)), toNullable(toFloat64(policy_risk)), toNullable(toString(methodology)),
                    toNullable(revision), toNullable(published_at), extended, extended_version) AS figures
            FROM risk_snapshots
            LEFT JOIN
            (
                SELECT slot_at, toNullable(toFloat64(score)) AS extended, toNullable(toString(version)) AS extended_version
                FROM extended_snapshots
                WHERE ${IN_RANGE}
                ORDER BY slot_at, ${NEWEST_REVISION}
                LIMIT 1 BY slot_at
            ) AS extended_scores USING slot_at
            WHERE ${IN_RANGE}
            ORDER BY slot_at, ${NEWEST_REVISION}
            LIMIT 1 BY slot_at
        )
        GROUP BY bucket
        ORDER BY bucket WITH FILL FROM {first: UInt32} TO {end: UInt32} STEP {interval: UInt32} INTERPOLATE (score)
    )
    WHERE bucket < {end: UInt32}
    ORDER BY bucket`,
})

/**
 * The times of a stable's first and newest risk snapshot of those that were shown at `known_at`, in unix seconds; null
 * without one.
 */
export const riskSpan = defineOptionalRow({
  name: 'risk_span',
  params: z.object({ stable: z.string(), known_at: KnownAt }),
  row: z.object({ oldest: z.int(), newest: z.int() }),
  sql: `
    SELECT toUnixTimestamp(min(slot_at)) AS oldest, toUnixTimestamp(max(slot_at)) AS newest
    FROM risk_snapshots
    WHERE stable = {stable: String} AND ${SHOWN}
    HAVING count() > 0`,
})
