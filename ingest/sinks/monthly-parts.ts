import { type Facts, type FactTable, factTables } from '../../clickhouse/facts/facts.js'

/** The rows that an insert has for one month of a table: in the table they are there all or none, also after a kill. */
export type MonthlyPart = { table: FactTable; rows: Facts[FactTable] }

/** The month of a time in unix seconds, in UTC, as yyyymm: what ClickHouse's toYYYYMM says, by which tables are partitioned. */
function monthOf(time: number): number {
  const date = new Date(time * 1000)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

export const nameOfPart = (table: FactTable, month: number): string => `${table} of ${month}`

/** Facts by table and month, in the order of the tables, under `nameOfPart`. */
export function monthlyParts(facts: Facts): Map<string, MonthlyPart> {
  const parts = new Map<string, MonthlyPart>()
  for (const table of factTables) {
    for (const row of facts[table]) {
      const name = nameOfPart(table, monthOf(row.block_time))
      const part = parts.get(name)
      if (part) (part.rows as object[]).push(row)
      else parts.set(name, { table, rows: [row] as Facts[FactTable] })
    }
  }
  return parts
}
