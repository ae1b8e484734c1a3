import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { factCounts } from '../../clickhouse/queries/fact-counts.js'
import { staleBuckets } from '../../clickhouse/queries/stale-buckets.js'
import { staleMinutes } from '../../clickhouse/queries/stale-minutes.js'
import { type FactTable, factTables, insertFacts } from '../../clickhouse/tables/facts.js'
import { rebuildFlowBuckets, windowOf } from '../../clickhouse/tables/flow-buckets.js'
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

/**
 * Writes a batch's facts; repeating it changes nothing. The blocks come last: where they are, everything is that was
 * written with them. `round` tells batches apart that are about the same blocks.
 */
async function write(clickhouse: ClickHouseClient, batch: Batch, round: string): Promise<void> {
  const token = `${batch.from}-${batch.to}:${batch.firstHash}:${batch.lastHash}${round}`
  const insert = (table: FactTable): Promise<void> => insertFacts(clickhouse, table, batch.facts[table], token)
  await Promise.all(factTables.filter((table) => table !== 'blocks').map(insert))
  await insert('blocks')
}

/** Writes a batch of the tip. A block that a rollback removed may come back, and is then no repeat. */
export const writeBatch = (clickhouse: ClickHouseClient, batch: Batch, rollback: Rollback): Promise<void> =>
  write(clickhouse, batch, rollback ? `:r${rollback.sequence_number}` : '')

/**
 * Writes a batch of blocks that are behind the tip, the number of which is `sequence` in its track. `mayBeThere`: it may
 * be in, wholly or in part, since any time, so that the tokens of its inserts may be forgotten by now. Throws
 * HalfWrittenError where a table holds a part of its rows.
 */
export async function writeOldBatch(
  clickhouse: ClickHouseClient,
  batch: Batch,
  round: string,
  mayBeThere: boolean,
): Promise<void> {
  if (!mayBeThere) return write(clickhouse, batch, round)
  const counts = await factCounts(clickhouse, rangeOf(batch))
  const there = new Set(counts.filter(({ fact_count }) => fact_count > 0).map(({ fact_table }) => fact_table))
  const missing = Object.fromEntries(factTables.map((table) => [table, there.has(table) ? [] : batch.facts[table]]))
  await write(clickhouse, { ...batch, facts: missing as unknown as Batch['facts'] }, round)
  await completeWrite(clickhouse, batch, null)
}

const rangeOf = (batch: Batch) => ({
  from_block: batch.from,
  to_block: batch.to,
  from_time: batch.firstTime,
  to_time: batch.lastTime,
  families: [...batch.families],
  only: [...batch.only],
  except: [...batch.except],
})

/**
 * Makes sure that a batch is in after it was written again, and puts in what is missing. An engine that is killed
 * between noting an insert's token and keeping its rows takes the repeat for a duplicate, of a table or of the view
 * behind it. Throws HalfWrittenError where a table holds a part of its rows, or others.
 */
export async function completeWrite(clickhouse: ClickHouseClient, batch: Batch, rollback: Rollback): Promise<void> {
  // The removed blocks had the same numbers, and times of their own.
  const times =
    rollback && batch.from <= rollback.removed_to ? { from_time: rollback.kept_time, to_time: END_OF_TIME } : {}
  for (const { fact_table, fact_count } of await factCounts(clickhouse, { ...rangeOf(batch), ...times })) {
    const rows = batch.facts[fact_table]
    if (fact_count === rows.length) continue
    if (fact_count > 0) throw new HalfWrittenError(fact_table, fact_count, rows.length, batch)
    await insertFacts(clickhouse, fact_table, rows, randomUUID())
  }
  if (batch.families.includes('logs')) {
    const windows = { first: windowOf(batch.firstTime), last: windowOf(batch.lastTime) }
    const [found] = await staleBuckets(clickhouse, windows)
    if (found?.stale !== 0) await rebuildFlowBuckets(clickhouse, windows)
  }
  if (!batch.families.includes('pegs')) return
  const minuteEnd = (time: number): number => Math.ceil(time / 60) * 60
  const minutes = { first: minuteEnd(batch.firstTime), last: minuteEnd(batch.lastTime) }
  const [stale] = await staleMinutes(clickhouse, minutes)
  if (stale?.minutes !== 0) await rebuildPegMinutes(clickhouse, minutes)
}
