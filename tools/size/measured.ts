import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery } from '../../clickhouse/store/define-query.js'
import { type Growth, type Table, tables } from '../../clickhouse/tables.js'
import { DAY_SECONDS } from '../../process/instants.js'

/**
 * A table as it is stored, in rows and bytes of its active parts; and, of its largest and its smallest part, their rows and
 * the bytes that grow with them: columns, marks and indexes. `part_overhead` is the most that a part has besides: its lists
 * of columns and checksums, and the statistics of columns that merges make, which ClickHouse limits in size.
 */
const measuredTables = defineQuery({
  name: 'measured_tables',
  row: z.object({
    table: z.string(),
    rows: z.coerce.number(),
    bytes: z.coerce.number(),
    parts: z.int(),
    largest: z.object({ rows: z.coerce.number(), bytes: z.coerce.number() }),
    smallest: z.object({ rows: z.coerce.number(), bytes: z.coerce.number() }),
    part_overhead: z.coerce.number(),
  }),
  // Parts that a merge has replaced are listed for some minutes more, and say as much of how rows are stored.
  sql: `
    WITH data_compressed_bytes + marks_bytes + secondary_indices_compressed_bytes + primary_key_size AS growing
    SELECT table, sumIf(system.parts.rows, active) AS rows, sumIf(bytes_on_disk, active) AS bytes, toUInt32(countIf(active)) AS parts,
           argMax(CAST((system.parts.rows, growing), 'Tuple(rows UInt64, bytes UInt64)'), system.parts.rows) AS largest,
           argMin(CAST((system.parts.rows, growing), 'Tuple(rows UInt64, bytes UInt64)'), system.parts.rows) AS smallest,
           max(bytes_on_disk - growing) AS part_overhead
    FROM system.parts WHERE database = currentDatabase() AND system.parts.rows > 0
    GROUP BY table HAVING rows > 0 ORDER BY table`,
})

/** The stretch of the chain in which rows are counted: its blocks and their times in unix seconds, both ends included. */
const chainStretch = defineOptionalRow({
  name: 'size_stretch',
  params: z.object({ seconds: z.int() }),
  row: z.object({
    from_block: z.int(),
    to_block: z.int(),
    from_time: z.int(),
    to_time: z.int(),
    blocks: z.int(),
    transactions: z.coerce.number(),
  }),
  sql: `
    WITH (SELECT max(block_time) FROM blocks) AS newest,
         (SELECT min(block_time) FROM blocks) AS oldest,
         if({seconds: UInt32} > 0, {seconds: UInt32}, least(${DAY_SECONDS}, intDiv(dateDiff('second', oldest, newest), 2))) AS length
    SELECT toUInt32(min(block_number)) AS from_block, toUInt32(max(block_number)) AS to_block, toUnixTimestamp(min(block_time)) AS from_time,
           toUnixTimestamp(max(block_time)) AS to_time, toUInt32(count()) AS blocks, sum(tx_count) AS transactions
    FROM blocks WHERE block_time > newest - length HAVING blocks > 1`,
})

type Stretch = NonNullable<Awaited<ReturnType<typeof chainStretch>>>

/**
 * How many rows a table has in the stretch, and at how many of its blocks or times; of what is once a period, back to the last
 * one before it.
 */
function countSql(
  { name, time, isMerged }: Table & { name: string },
  { by: column = time, every = 0 }: Growth,
): string {
  const instant = column === 'block_time' && every === 0 ? 'block_number' : column
  const range =
    column === 'from_block'
      ? '{from_block: UInt64} AND {to_block: UInt64}'
      : `toDateTime({from_time: UInt32}) - ${every} AND toDateTime({to_time: UInt32})`
  return `
    SELECT '${name}' AS table, count() AS rows, uniqExact(${instant}) AS instants
    FROM ${name}${isMerged ? ' FINAL' : ''} WHERE ${column} BETWEEN ${range}`
}

const grownRows = defineQuery({
  name: 'grown_rows',
  params: z.object({ from_block: z.int(), to_block: z.int(), from_time: z.int(), to_time: z.int() }),
  row: z.object({ table: z.string(), rows: z.coerce.number(), instants: z.coerce.number() }),
  sql: tables.flatMap((table) => (table.grows ? [countSql(table, table.grows)] : [])).join('\n    UNION ALL'),
})

export type MeasuredTable = Awaited<ReturnType<typeof measuredTables>>[number] & {
  /** In the stretch; null if the table is not counted. */
  grown: { rows: number; instants: number } | null
}

export type Measured = { tables: readonly MeasuredTable[]; stretch: Stretch }

/**
 * Every table that has rows, and what was added to it in the newest `seconds` of the chain; if 0, in the newer half of what
 * is stored, a day at most, so that what a chain starts with does not count as growth. Null if there are fewer than two blocks. Rejects with
 * QueryError.
 */
export async function measure(clickhouse: ClickHouseClient, seconds: number): Promise<Measured | null> {
  const stretch = await chainStretch(clickhouse, { seconds })
  if (!stretch) return null
  const [tables, grown] = await Promise.all([measuredTables(clickhouse), grownRows(clickhouse, stretch)])
  const byTable = new Map(grown.map(({ table, rows, instants }) => [table, { rows, instants }]))
  return { tables: tables.map((table) => ({ ...table, grown: byTable.get(table.table) ?? null })), stretch }
}
