import { z } from 'zod'
import { defineQuery, onlyColumn } from '../../clickhouse/store/define-query.js'
import type { Derivation } from '../../clickhouse/tables.js'
import { DAY_SECONDS } from '../../process/instants.js'

/** The column with the time of a row, which decides its day, and how rows follow from facts. */
export type Derived = Derivation & { time: string }

/** The days that have facts or rows in the old table, each as its first second in Unix time. */
export const daysOf = (table: string, { facts, time, timeOfFact }: Derived) =>
  defineQuery({
    name: `days_of_${table}`,
    row: onlyColumn('day', z.int()),
    sql: `
      SELECT DISTINCT toUInt32(intDiv(time, ${DAY_SECONDS}) * ${DAY_SECONDS}) AS day
      FROM
      (
          SELECT toUnixTimestamp(${timeOfFact}) AS time FROM ${facts}
          UNION ALL
          SELECT toUnixTimestamp(${time}) FROM ${table}
      )
      ORDER BY day`,
  })

/**
 * The first few rows of a day (which starts at the second `day`) that are in only one of the two tables. `is_old` is true
 * for rows of the old table; `differing` is the number of all such rows. Unmerged rows count as merged.
 */
export const differingRows = (table: string, rebuilt: string, { time }: Derived) => {
  const inDay = `${time} >= {day: UInt32} AND ${time} < {day: UInt32} + ${DAY_SECONDS}`
  return defineQuery({
    name: `differing_rows_of_${table}`,
    params: z.object({ day: z.int() }),
    row: z.looseObject({ is_old: z.boolean(), differing: z.int() }),
    sql: `
      SELECT * EXCEPT side, (side > 0)::Bool AS is_old, toUInt32(count() OVER ()) AS differing
      FROM
      (
          SELECT * EXCEPT side, sum(side) AS side
          FROM
          (
              SELECT *, 1 AS side FROM ${table} FINAL WHERE ${inDay}
              UNION ALL
              SELECT *, -1 AS side FROM ${rebuilt} FINAL WHERE ${inDay}
          )
          GROUP BY ALL
          HAVING side != 0
      )
      ORDER BY ALL
      LIMIT 10`,
  })
}
