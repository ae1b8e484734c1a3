import type { ClickHouseClient } from '@clickhouse/client'
import { type Family, isByStable as isFamilyByStable } from '../chain/batches.js'
import { insertRows } from '../store/insert.js'
import { type NamesOf, TABLES, tables } from '../tables.js'
import { checkWidths } from './widths.js'

export type FactTable = NamesOf<{ family: Family }>

export const factTables = tables.filter(({ holds }) => holds === 'facts').map(({ name }) => name as FactTable)

type RowOf<Table extends FactTable> = (typeof TABLES)[Table] extends { row?: infer Row extends object } ? Row : never

/** Rows by the table that holds them: everything that ingest writes for a range of blocks. */
export type Facts = { [Table in FactTable]: RowOf<Table>[] }

/** Whether a table's rows are read per stable, so that some stables may be ingested and others not. */
export const isByStable = (table: FactTable): boolean => isFamilyByStable(TABLES[table].family)

/** The rows of all `parts`, table by table, in their order. */
export function mergeFacts(parts: readonly Partial<Facts>[]): Facts {
  const merged = Object.fromEntries(factTables.map((table) => [table, [] as object[]])) as Record<FactTable, object[]>
  for (const part of parts) {
    for (const table of factTables) for (const row of part[table] ?? []) merged[table].push(row)
  }
  return merged as unknown as Facts
}

/**
 * Adds rows to a fact table. Repeating a token changes neither the table nor the views that read it. Rejects with an
 * error that is not retryable if a value does not fit into its column.
 */
export async function insertFacts<Table extends FactTable>(
  clickhouse: ClickHouseClient,
  table: Table,
  rows: Readonly<Facts[Table]>,
  token: string,
): Promise<void> {
  checkWidths(table, TABLES[table].bits, rows)
  await insertRows<object>(clickhouse, table, rows, token, { isMany: true })
}
