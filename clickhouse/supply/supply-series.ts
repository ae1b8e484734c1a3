import { BUCKET_COLUMNS, SeriesParams } from '../peg/series.js'
import { defineExport } from '../store/define-export.js'

const NO_CAP = "toUInt256('340282366920938463463374607431768211455')"

/**
 * A stable's supply by bucket, oldest first, one row a bucket: supply and cap at its end, and what was minted and burned
 * within (start, end], in base units. Null where the state was not read yet; the cap also where there is none.
 */
export const supplySeries = defineExport({
  name: 'supply_series',
  params: SeriesParams,
  sql: `
    SELECT ${BUCKET_COLUMNS},
           CAST(toDecimal256(toInt256(supply), 0), 'Nullable(Decimal(39, 0))') AS supply,
           CAST(toDecimal256(toInt256(nullIf(cap, ${NO_CAP})), 0), 'Nullable(Decimal(39, 0))') AS cap,
           toDecimal256(toInt256(minted), 0) AS minted, toDecimal256(toInt256(burned), 0) AS burned
    FROM
    (
        SELECT bucket, argMax(supply, position) AS supply, argMax(cap, position) AS cap, sum(minted) AS minted, sum(burned) AS burned
        FROM
        (
            -- The state that stood when the first bucket began counts as read in it.
            SELECT greatest(intDiv(toUnixTimestamp(block_time) - 1, {interval: UInt32}) * {interval: UInt32}, toInt64({first: UInt32})) AS bucket,
                   toNullable(supply_raw) AS supply, toNullable(cap_raw) AS cap, (block_time, block_number) AS position,
                   toUInt256(0) AS minted, toUInt256(0) AS burned
            FROM state_reads
            WHERE stable = {stable: String} AND block_time <= {end: UInt32}
              AND block_time >= (SELECT max(block_time) FROM state_reads WHERE stable = {stable: String} AND block_time <= {first: UInt32})
            UNION ALL
            SELECT intDiv(toUnixTimestamp(block_time) - 1, {interval: UInt32}) * {interval: UInt32}, NULL, NULL, (block_time, block_number),
                   if(kind = 'mint', amount_raw, 0), if(kind = 'mint', 0, amount_raw)
            FROM supply_events
            WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32} AND kind != 'cap'
        )
        GROUP BY bucket
        ORDER BY bucket WITH FILL FROM {first: UInt32} TO {end: UInt32} STEP {interval: UInt32} INTERPOLATE (supply, cap)
    )
    WHERE bucket < {end: UInt32}
    ORDER BY bucket`,
})
