import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { IngestRollback } from '../../clickhouse/chain/rollbacks.js'
import { factCounts } from '../../clickhouse/facts/compare.js'
import { type Facts, type FactTable, factTables, insertFacts, mergeFacts } from '../../clickhouse/facts/facts.js'
import { feesLetGoSince, withoutLetGo } from '../../clickhouse/facts/retention.js'
import { addFeeChoices } from '../../clickhouse/fees/choices.js'
import { rebuildFlowBuckets, staleBuckets, windowOf } from '../../clickhouse/flows/buckets.js'
import { rebuildPegMinutes, staleMinutes } from '../../clickhouse/peg/minutes.js'
import { hourOf, rebuildQuoteHours } from '../../clickhouse/peg/quote-hours.js'
import { PlumblineError } from '../../process/errors.js'
import { END_OF_TIME } from '../../process/instants.js'
import type { Batch } from '../batch/complete-batch.js'

/** The rows of an insert for one month of a table: they are stored all or none, even after a kill. */
type MonthlyPart = { table: FactTable; rows: Facts[FactTable] }

/** The month of a unix time in UTC, as yyyymm: equal to ClickHouse's toYYYYMM, by which tables are partitioned. */
function monthOf(time: number): number {
  const date = new Date(time * 1000)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

const nameOfPart = (table: FactTable, month: number): string => `${table} of ${month}`

/** Facts by table and month, in the order of the tables, keyed by `nameOfPart`. */
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

/** A month of a table holds only part of a batch, which no single insert can leave behind. */
class HalfWrittenError extends PlumblineError {
  constructor(part: string, stored: number, expected: number, { from, to }: Batch) {
    super(`${part} has ${stored} of the ${expected} facts of blocks ${from} to ${to}`, { retryable: false })
  }
}

type Rollback = Pick<IngestRollback, 'kept_time' | 'removed_to'> | null

/**
 * Writes a batch's facts; repeating it changes nothing. `round` distinguishes batches of the same blocks. With
 * `mayBeThere`, an earlier attempt may have stored all or part of the batch so long ago that its insert tokens are
 * forgotten: a table remembers only the tokens of the newest inserts. Facts of blocks that `rollback` has removed do
 * not count as stored. Facts that are too old to be kept are not written. Throws HalfWrittenError where a table holds only part of its rows of a month.
 */
export async function writeBatch(
  clickhouse: ClickHouseClient,
  read: Batch,
  round: string,
  mayBeThere: boolean,
  rollback: Rollback = null,
): Promise<void> {
  const letGoUntil = await feesLetGoSince(clickhouse, read.firstTime)
  const batch = { ...read, facts: withoutLetGo(read.facts, letGoUntil), letGoUntil }
  const token = `${batch.from}-${batch.to}:${batch.firstHash}:${batch.lastHash}${round}`
  if (!mayBeThere) return insertAll(clickhouse, batch.facts, token)
  const storedRows = await storedRowsOf(clickhouse, batch, rollback)
  const missing = [...monthlyParts(batch.facts)].filter(([name]) => !storedRows.has(name))
  await insertAll(clickhouse, mergeFacts(missing.map(([, { table, rows }]) => ({ [table]: rows }))), token)
  await completeWrite(clickhouse, batch, rollback)
}

/** The blocks are inserted last: a stored block means that all its facts are stored. */
async function insertAll(clickhouse: ClickHouseClient, facts: Facts, token: string): Promise<void> {
  const insert = (table: FactTable): Promise<void> => insertFacts(clickhouse, table, facts[table], token)
  await Promise.all(factTables.filter((table) => table !== 'blocks').map(insert))
  await insert('blocks')
}

/** A batch without what is too old to be kept, and up to which time that is. */
type KeptBatch = Batch & { letGoUntil: number }

const rangeOf = (batch: KeptBatch) => ({
  from_block: batch.from,
  to_block: batch.to,
  from_time: batch.firstTime,
  to_time: batch.lastTime,
  families: [...batch.families],
  only: [...batch.only],
  except: [...batch.except],
  let_go_until: batch.letGoUntil,
})

/** How many facts of a batch are stored, by the name of their part. */
async function storedRowsOf(
  clickhouse: ClickHouseClient,
  batch: KeptBatch,
  rollback: Rollback,
): Promise<Map<string, number>> {
  // The removed blocks had the same numbers, but other times.
  const times =
    rollback && batch.from <= rollback.removed_to ? { from_time: rollback.kept_time, to_time: END_OF_TIME } : {}
  const counts = await factCounts(clickhouse, { ...rangeOf(batch), ...times })
  return new Map(counts.map(({ fact_table, month, fact_count }) => [nameOfPart(fact_table, month), fact_count]))
}

/**
 * Checks that a repeated batch is complete, and inserts what is missing. An engine that is killed after recording an
 * insert's token but before storing its rows treats the repeat as a duplicate, for the table or for its view; one that
 * is killed between the months of an insert leaves out some of them. Throws HalfWrittenError where a table holds only
 * part of its rows of a month, or rows that do not belong there.
 */
async function completeWrite(clickhouse: ClickHouseClient, batch: KeptBatch, rollback: Rollback): Promise<void> {
  const storedRows = await storedRowsOf(clickhouse, batch, rollback)
  for (const [name, { table, rows }] of monthlyParts(batch.facts)) {
    const stored = storedRows.get(name) ?? 0
    storedRows.delete(name)
    if (stored === rows.length) continue
    if (stored > 0) throw new HalfWrittenError(name, stored, rows.length, batch)
    await insertFacts(clickhouse, table, rows, randomUUID())
  }
  for (const [name, stored] of storedRows) throw new HalfWrittenError(name, stored, 0, batch)
  if (batch.families.includes('logs')) {
    const windows = { first: windowOf(batch.firstTime), last: windowOf(batch.lastTime) }
    if ((await staleBuckets(clickhouse, windows)) > 0) await rebuildFlowBuckets(clickhouse, windows)
    await addFeeChoices(clickhouse, { first: batch.firstTime, last: batch.lastTime })
  }
  if (!batch.families.includes('pegs')) return
  const minuteEnd = (time: number): number => Math.ceil(time / 60) * 60
  const minutes = { first: minuteEnd(batch.firstTime), last: minuteEnd(batch.lastTime) }
  if ((await staleMinutes(clickhouse, minutes)) > 0) await rebuildPegMinutes(clickhouse, minutes)
  await rebuildQuoteHours(clickhouse, { first: hourOf(batch.firstTime), last: hourOf(batch.lastTime) })
}
