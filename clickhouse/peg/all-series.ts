import { z } from 'zod'
import { isInUseAt } from '../chain/token-lists.js'
import { defineQuery } from '../store/define-query.js'

/** Unix seconds: buckets of `interval` begin at `first` and the last ends at `end`. No `stables` are all that are in use. */
const Params = z.object({ stables: z.array(z.string()), interval: z.int(), first: z.int(), end: z.int() })

/** Deviations in millionths, signed; without a quoted sample the extremes are null and `last` means nothing. */
const Point = z
  .tuple([z.int(), z.int().nullable(), z.int().nullable(), z.int(), z.int(), z.int()])
  .transform(([index, low, high, last, quoted, unquoted]) => ({ index, low, high, last, quoted, unquoted }))

/**
 * The price of many stables by bucket: of each with a sample the buckets that have one, by number from the first. Reads
 * minute states, so buckets must be whole minutes. Ordered by address; the buckets of a stable are in no order.
 */
export const pegSeriesOfAll = defineQuery({
  name: 'peg_series_of_all',
  params: Params,
  row: z.object({ stable: z.string(), points: z.array(Point) }),
  sql: `
    SELECT stable, groupArray((bucket_index, low, high, last, quoted, unquoted)) AS points
    FROM
    (
        SELECT stable, toUInt32(intDiv(toUnixTimestamp(minute_end) - 1 - {first: UInt32}, {interval: UInt32})) AS bucket_index,
               min(deviation_min) AS low, max(deviation_max) AS high, max(last_quoted).2 AS last,
               toUInt32(sum(quoted_count)) AS quoted, toUInt32(sum(unquoted_count)) AS unquoted
        FROM peg_minutes
        WHERE minute_end > {first: UInt32} AND minute_end <= {end: UInt32}
          AND stable IN (SELECT stable FROM stablecoins WHERE if(empty({stables: Array(String)}), ${isInUseAt('{end: UInt32}')}, stable IN {stables: Array(String)}))
        GROUP BY stable, bucket_index
    )
    GROUP BY stable
    ORDER BY stable`,
})

/** The columns of a stable's price, one value per bucket, as published. */
export type PegColumns = {
  low_bps: (number | null)[]
  high_bps: (number | null)[]
  last_bps: (number | null)[]
  unquoted_share: (number | null)[]
}

type Points = z.output<typeof Point>[]

/**
 * The points of a stable as columns of `count` buckets. Deviations in basis points; the share of samples without a quote
 * has six decimals. All are null in a bucket without a sample.
 */
export function pegColumns(points: Points, count: number): PegColumns {
  const column = (): (number | null)[] => Array.from({ length: count }, () => null)
  const columns = { low_bps: column(), high_bps: column(), last_bps: column(), unquoted_share: column() }
  for (const { index, low, high, last, quoted, unquoted } of points) {
    columns.unquoted_share[index] = Math.round((1e6 * unquoted) / (quoted + unquoted)) / 1e6
    if (low === null || high === null) continue
    columns.low_bps[index] = low / 100
    columns.high_bps[index] = high / 100
    columns.last_bps[index] = last / 100
  }
  return columns
}
