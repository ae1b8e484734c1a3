import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineRow, onlyColumn } from '../store/define-query.js'
import { rebuildRange } from '../store/rebuild.js'
import { DEVIATION, LAST_QUOTED, MINUTE_END, sampleSums, selected } from './sums.js'

const RANGE = '{first: UInt32} AND {last: UInt32}'

/**
 * The minute states of the samples that match `where`: the same computation that peg_minutes_mv applies to an insert.
 */
export const pegMinutesOf = (where = ''): string => `
  WITH ${DEVIATION} AS deviation
  SELECT stable, ${MINUTE_END} AS minute_end, ${selected(sampleSums({ quote: 'sell_micros', seconds: 'elapsed_seconds' }))},
         ${LAST_QUOTED}
  FROM peg_samples ${where}
  GROUP BY stable, minute_end`

/** Inserts the states of the minutes that end from `first` to `last`, both included, into `table`. */
export const fillPegMinutes = (table: string): string => `
  INSERT INTO ${table}
  ${pegMinutesOf(`WHERE block_time > {first: UInt32} - 60 AND block_time <= {last: UInt32} AND minute_end BETWEEN ${RANGE}`)}`

/**
 * Rebuilds, from the samples, the states of the minutes that end between two times in unix seconds, both included. Safe
 * to repeat, and must be repeated if it fails, because states may be missing then. Rejects with QueryError.
 */
export const rebuildPegMinutes = (
  clickhouse: ClickHouseClient,
  range: { first: number; last: number },
): Promise<void> =>
  rebuildRange(clickhouse, 'peg_minutes', range, [
    `DELETE FROM peg_minutes WHERE minute_end BETWEEN ${RANGE}`,
    fillPegMinutes('peg_minutes'),
  ])

/**
 * Of the minutes that end between two times, both included: how many have a sample count that differs from their
 * samples.
 */
export const staleMinutes = defineRow({
  name: 'stale_minutes',
  params: z.object({ first: z.int(), last: z.int() }),
  row: onlyColumn('minutes', z.int()),
  sql: `
    SELECT toUInt32(count()) AS minutes
    FROM
    (
        SELECT stable, end
        FROM
        (
            SELECT stable, minute_end AS end, toInt64(quoted_count + unquoted_count) AS samples
            FROM peg_minutes
            WHERE minute_end BETWEEN {first: UInt32} AND {last: UInt32}
            UNION ALL
            SELECT stable, ${MINUTE_END}, -1
            FROM peg_samples
            WHERE block_time > {first: UInt32} - 60 AND block_time <= {last: UInt32}
        )
        GROUP BY stable, end
        HAVING sum(samples) != 0
    )`,
})
