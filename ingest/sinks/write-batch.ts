import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { type FactTable, factCounts } from '../../clickhouse/queries/fact-counts.js'
import { staleMinutes } from '../../clickhouse/queries/stale-minutes.js'
import { insertBlocks } from '../../clickhouse/tables/blocks.js'
import { insertDexOrders } from '../../clickhouse/tables/dex-orders.js'
import { insertFlows } from '../../clickhouse/tables/flows.js'
import { rebuildPegMinutes } from '../../clickhouse/tables/peg-minutes.js'
import { insertPegSamples } from '../../clickhouse/tables/peg-samples.js'
import { insertQuoteTokenUpdates } from '../../clickhouse/tables/quote-token-updates.js'
import { insertStablecoins } from '../../clickhouse/tables/stablecoins.js'
import { insertStateReads } from '../../clickhouse/tables/state-reads.js'
import { insertSupplyEvents } from '../../clickhouse/tables/supply-events.js'
import { PlumblineError } from '../../domain/errors.js'
import type { Batch } from '../batch.js'

/** A table holds a part of a batch, which no single insert leaves behind. */
class HalfWrittenError extends PlumblineError {
  constructor(table: string, found: number, expected: number, { from, to }: Batch) {
    super(`${table} has ${found} of the ${expected} facts of blocks ${from} to ${to}`, { retryable: false })
  }
}

type Write = { rows: number; insert: (token: string) => Promise<void> }

const writesOf = (clickhouse: ClickHouseClient, batch: Batch): Record<FactTable, Write> => {
  const write = <Row>(
    insert: (to: ClickHouseClient, rows: Row[], token: string) => Promise<void>,
    rows: Row[],
  ): Write => ({
    rows: rows.length,
    insert: (token) => insert(clickhouse, rows, token),
  })
  return {
    stablecoins: write(insertStablecoins, batch.stablecoins),
    quote_token_updates: write(insertQuoteTokenUpdates, batch.quoteTokenUpdates),
    dex_orders: write(insertDexOrders, batch.orders),
    supply_events: write(insertSupplyEvents, batch.supplyEvents),
    state_reads: write(insertStateReads, batch.stateReads),
    peg_samples: write(insertPegSamples, batch.samples),
    flows: write(insertFlows, batch.flows),
    blocks: write(insertBlocks, batch.blocks),
  }
}

/** Writes a batch's facts; repeating it changes nothing. The blocks come last: where they are, everything is. */
export async function writeBatch(clickhouse: ClickHouseClient, batch: Batch): Promise<void> {
  const token = `${batch.from}-${batch.to}:${batch.firstHash}:${batch.lastHash}`
  const { blocks, ...others } = writesOf(clickhouse, batch)
  await Promise.all(Object.values(others).map(({ insert }) => insert(token)))
  await blocks.insert(token)
}

/**
 * Makes sure that a batch is in after it was written again, and puts in what is missing. An engine that is killed
 * between noting an insert's token and keeping its rows takes the repeat for a duplicate, of a table or of the view
 * behind it. Throws HalfWrittenError where a table holds a part of its rows.
 */
export async function completeWrite(clickhouse: ClickHouseClient, batch: Batch): Promise<void> {
  const writes = writesOf(clickhouse, batch)
  const range = { from_block: batch.from, to_block: batch.to, from_time: batch.firstTime, to_time: batch.lastTime }
  for (const { fact_table, fact_count } of await factCounts(clickhouse, range)) {
    const { rows, insert } = writes[fact_table]
    if (fact_count === rows) continue
    if (fact_count > 0) throw new HalfWrittenError(fact_table, fact_count, rows, batch)
    await insert(randomUUID())
  }
  const minuteEnd = (time: number): number => Math.ceil(time / 60) * 60
  const minutes = { first_minute_end: minuteEnd(batch.firstTime), last_minute_end: minuteEnd(batch.lastTime) }
  const [stale] = await staleMinutes(clickhouse, minutes)
  if (stale?.minutes !== 0) await rebuildPegMinutes(clickhouse, minutes)
}
