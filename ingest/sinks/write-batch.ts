import type { ClickHouseClient } from '@clickhouse/client'
import { insertBlocks } from '../../clickhouse/tables/blocks.js'
import { insertDexOrders } from '../../clickhouse/tables/dex-orders.js'
import { insertFlows } from '../../clickhouse/tables/flows.js'
import { insertPegSamples } from '../../clickhouse/tables/peg-samples.js'
import { insertQuoteTokenUpdates } from '../../clickhouse/tables/quote-token-updates.js'
import { insertStablecoins } from '../../clickhouse/tables/stablecoins.js'
import { insertStateReads } from '../../clickhouse/tables/state-reads.js'
import { insertSupplyEvents } from '../../clickhouse/tables/supply-events.js'
import type { Batch } from '../batch.js'

/** Writes a batch's facts; repeating it changes nothing. The blocks come last: where they are, everything is. */
export async function writeBatch(clickhouse: ClickHouseClient, batch: Batch): Promise<void> {
  const token = `${batch.from}-${batch.to}:${batch.firstHash}:${batch.lastHash}`
  await Promise.all([
    insertStablecoins(clickhouse, batch.stablecoins, token),
    insertQuoteTokenUpdates(clickhouse, batch.quoteTokenUpdates, token),
    insertDexOrders(clickhouse, batch.orders, token),
    insertSupplyEvents(clickhouse, batch.supplyEvents, token),
    insertStateReads(clickhouse, batch.stateReads, token),
    insertPegSamples(clickhouse, batch.samples, token),
    insertFlows(clickhouse, batch.flows, token),
  ])
  await insertBlocks(clickhouse, batch.blocks, token)
}
