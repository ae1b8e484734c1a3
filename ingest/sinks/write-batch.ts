import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { factCounts } from '../../clickhouse/queries/fact-counts.js'
import { staleMinutes } from '../../clickhouse/queries/stale-minutes.js'
import { type FactTable, factTables, insertFacts } from '../../clickhouse/tables/facts.js'
import type { IngestRollback } from '../../clickhouse/tables/ingest-rollbacks.js'
import { rebuildPegMinutes } from '../../clickhouse/tables/peg-minutes.js'
import { PlumblineError } from '../../domain/errors.js'
import type { Batch } from '../batch.js'

/** A table holds a part of a batch, which no single insert leaves behind. */
class HalfWrittenError extends PlumblineError {
  constructor(table: string, found: number, expected: number, { from, to }: Batch) {
    super(`${table} has ${found} of the ${expected} facts of blocks ${from} to ${to}`, { retryable: false })
  }
}

type Rollback = Pick<IngestRollback, 'sequence_number' | 'kept_time' | 'removed_to'> | null

/** Later than any block. */
const END_OF_TIME = 0xffff_ffff

/** Writes a batch's facts; repeating it changes nothing. The blocks come last: where they are, everything is. */
export async function writeBatch(clickhouse: ClickHouseClient, batch: Batch, rollback: Rollback): Promise<void> {
  // A block that a rollback removed may come back, and is then no repeat.
  const round = rollback ? `:r${rollback.sequence_number}` : ''
  const token = `${batch.from}-${batch.to}:${batch.firstHash}:${batch.lastHash}${round}`
  const write = (table: FactTable): Promise<void> => insertFacts(clickhouse, table, batch.facts[table], token)
  await Promise.all(factTables.filter((table) => table !== 'blocks').map(write))
  await write('blocks')
}

/**
 * Makes sure that a batch is in after it was written again, and puts in what is missing. An engine that is killed
 * between noting an insert's token and keeping its rows takes the repeat for a duplicate, of a table or of the view
 * behind it. Throws HalfWrittenError where a table holds a part of its rows, or others.
 */
export async function completeWrite(clickhouse: ClickHouseClient, batch: Batch, rollback: Rollback): Promise<void> {
  // The removed blocks had the same numbers, and times of their own.
  const times =
    rollback && batch.from <= rollback.removed_to
      ? { from_time: rollback.kept_time, to_time: END_OF_TIME }
      : { from_time: batch.firstTime, to_time: batch.lastTime }
  const range = { from_block: batch.from, to_block: batch.to, ...times }
  for (const { fact_table, fact_count } of await factCounts(clickhouse, range)) {
    const rows = batch.facts[fact_table]
    if (fact_count === rows.length) continue
    if (fact_count > 0) throw new HalfWrittenError(fact_table, fact_count, rows.length, batch)
    await insertFacts(clickhouse, fact_table, rows, randomUUID())
  }
  const minuteEnd = (time: number): number => Math.ceil(time / 60) * 60
  const minutes = { first_minute_end: minuteEnd(batch.firstTime), last_minute_end: minuteEnd(batch.lastTime) }
  const [stale] = await staleMinutes(clickhouse, minutes)
  if (stale?.minutes !== 0) await rebuildPegMinutes(clickhouse, minutes)
}
