import { tables as declared, type Growth, traitsOf } from '../../clickhouse/tables.js'
import { DAY_SECONDS } from '../../process/instants.js'
import type { Measured, MeasuredTable } from './measured.js'

/** What the rows of a table grow with; `nothing`: so slowly that it does not matter. */
type Driver = Growth['with'] | 'nothing'

/** What is wanted; what is omitted stays as it was measured. */
export type WantedDatabase = {
  transactionsPerSecond?: number | undefined
  stables?: number | undefined
  blockSeconds?: number | undefined
  /** RETAIN_FEES_PAID_DAYS; omitted, all rows stay. */
  retainFeesDays?: number | undefined
  /** How far ahead, in days from now. */
  days: number
  replicas: number
}

type TableEstimate = {
  table: string
  grows_with: Driver
  rows_per_day: number
  bytes_per_row: number
  bytes_per_day: number
  /** On one replica, after the days, merged. */
  bytes: number
}

export type Estimate = {
  chain: { block_seconds: number; transactions_per_second: number; stables: number; blocks_per_batch: number }
  tables: TableEstimate[]
  /** In bytes. `for_merges` is the room that merges need beside what is stored while they run. */
  disk: { per_day: number; one_replica: number; for_merges: number; all_replicas: number }
  /** Of ingest's batches. Each insert makes a part on its table and on those that views fill; with replicas, each part is a write to the Keeper by each of them. */
  per_second: { inserts: number; parts: number; keeper_writes: number | null }
}

/** The number of tables that views fill from each insert into this one, in parts of their own. */
const viewsOf = (table: string): number => declared.filter(({ derived }) => derived?.from === table).length

/** Inserts of a batch besides those of facts: its plan and its commit. */
const LEDGER_INSERTS = 2
const MONTH_DAYS = 31
/** The largest part that ClickHouse merges to by default (max_bytes_to_merge_at_max_space_in_pool). */
const LARGEST_MERGE_BYTES = 150 * 2 ** 30

/** Bytes that a row adds to a large part. Two parts of different sizes tell it from what each part costs, however small. */
export function bytesPerRow({ largest, smallest }: Pick<MeasuredTable, 'largest' | 'smallest'>): number {
  if (largest.rows < 2 * smallest.rows) return largest.bytes / largest.rows
  return Math.max(0, (largest.bytes - smallest.bytes) / (largest.rows - smallest.rows))
}

const ratio = (now: number, before: number): number => (before === 0 ? 1 : now / before)

/** The chain that the wanted database follows, and how many times as much of each driver it has as the measured one. */
function driversOf({ tables, stretch }: Measured, wanted: WantedDatabase) {
  const rowsOf = (name: string): number => tables.find(({ table }) => table === name)?.grown?.rows ?? 0
  // The first block ends no interval.
  const blockSeconds = (stretch.to_time - stretch.from_time) / (stretch.blocks - 1)
  const seconds = blockSeconds * stretch.blocks
  const stables = rowsOf('peg_samples') / stretch.blocks
  const chain = {
    block_seconds: wanted.blockSeconds ?? blockSeconds,
    transactions_per_second: wanted.transactionsPerSecond ?? stretch.transactions / seconds,
    stables: wanted.stables ?? stables,
    blocks_per_batch: stretch.blocks / Math.max(1, rowsOf('ingest_batches') / 2),
  }
  const moreBlocks = ratio(blockSeconds, chain.block_seconds)
  const moreStables = ratio(chain.stables, stables)
  const times: Record<Driver, number> = {
    blocks: moreBlocks,
    samples: moreBlocks * moreStables,
    transactions: ratio(chain.transactions_per_second, stretch.transactions / seconds),
    stables: moreStables,
    time: 1,
    nothing: 0,
  }
  return { chain, seconds, times }
}

type Drivers = ReturnType<typeof driversOf>

/** What a table grows to. `seconds` is how long the measured stretch took. */
function tableEstimate(
  measured: MeasuredTable,
  { chain, seconds, times }: Drivers,
  wanted: WantedDatabase,
): TableEstimate {
  const { table, rows, largest, part_overhead, grown } = measured
  const growth = traitsOf(table)?.grows
  const grows_with = growth?.with ?? 'nothing'
  const perSecond =
    !growth || !grown || grown.rows === 0
      ? 0
      : growth.every
        ? grown.rows / grown.instants / Math.max(growth.every, chain.block_seconds)
        : grown.rows / seconds
  const rows_per_day = perSecond * DAY_SECONDS * times[grows_with]
  const bytes_per_row = bytesPerRow(measured)
  const later = rows + rows_per_day * wanted.days
  // What is too old goes by whole months.
  const kept =
    traitsOf(table)?.retained === 'RETAIN_FEES_PAID_DAYS' && wanted.retainFeesDays !== undefined
      ? Math.min(later, rows_per_day * (wanted.retainFeesDays + MONTH_DAYS))
      : later
  const bytes = part_overhead + Math.max(0, largest.bytes + (kept - largest.rows) * bytes_per_row)
  return { table, grows_with, rows_per_day, bytes_per_row, bytes_per_day: rows_per_day * bytes_per_row, bytes }
}

/** Inserts per second, and the parts that they make in the tables and in those that views fill. */
function insertsAndParts({ tables, stretch }: Measured, { chain, times }: Drivers): { inserts: number; parts: number } {
  const batches = 1 / (chain.block_seconds * chain.blocks_per_batch)
  const insertsOf = ({ table, grown }: MeasuredTable): number => {
    const { grows: growth, holds } = traitsOf(table) ?? {}
    if (!growth || !grown || holds !== 'facts') return 0
    if (growth.every) return Math.min(batches, 1 / growth.every)
    // Whether a batch has a row at all, if each of its blocks has one as often as was measured.
    const emptyShare = Math.max(0, 1 - grown.instants / stretch.blocks)
    const timesPerBlock = growth.with === 'transactions' ? times.transactions / times.blocks : 1
    return batches * (1 - emptyShare ** (chain.blocks_per_batch * timesPerBlock))
  }
  const ofTables = tables.map((table) => ({ table: table.table, inserts: insertsOf(table) }))
  const inserts = ofTables.reduce((total, { inserts }) => total + inserts, batches * LEDGER_INSERTS)
  const parts = ofTables.reduce((total, { table, inserts }) => total + inserts * viewsOf(table), inserts)
  return { inserts, parts }
}

/**
 * What a database like the measured one needs later. The rows of each table are multiplied by what they grow with; bytes a
 * row are as measured.
 */
export function estimate(measured: Measured, wanted: WantedDatabase): Estimate {
  const drivers = driversOf(measured, wanted)
  const tables = measured.tables.map((table) => tableEstimate(table, drivers, wanted))
  const per_day = tables.reduce((total, { bytes_per_day }) => total + bytes_per_day, 0)
  const one_replica = tables.reduce((total, { bytes }) => total + bytes, 0)
  // A merge writes a whole part, a month of a table at most, before those that it replaces go.
  const largestMonth = Math.max(
    ...tables.map(({ bytes, bytes_per_day }) => Math.min(bytes, bytes_per_day * MONTH_DAYS)),
  )
  const for_merges = Math.min(largestMonth, LARGEST_MERGE_BYTES)
  const { inserts, parts } = insertsAndParts(measured, drivers)
  return {
    chain: drivers.chain,
    tables: tables.toSorted((a, b) => b.bytes - a.bytes),
    disk: { per_day, one_replica, for_merges, all_replicas: (one_replica + for_merges) * wanted.replicas },
    per_second: { inserts, parts, keeper_writes: wanted.replicas > 1 ? parts * wanted.replicas : null },
  }
}
