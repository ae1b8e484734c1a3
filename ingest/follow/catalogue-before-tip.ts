import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import { catalogueRanges, type ReadOptions, readCatalogueBatch } from '../batch/read-catalogue-batch.js'
import { createRegistry } from '../knowledge/registry.js'
import { openLedger } from '../sinks/batch-ledger.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { writeBatch } from '../sinks/write-batch.js'

/** The track of the catalogue of the blocks before the tip's first block. */
export const CATALOGUE = 'catalogue'

type Options = ReadOptions & { clickhouse: ClickHouseClient; log: Logger; retryDatabase: RetryDatabase }

/**
 * Stores what is needed to decode the logs of later blocks: the stables, their quote tokens and the orders of all
 * blocks up to `to`, which must be final. Resumes where it stopped; resolves to the last block. Only these logs are
 * requested, so if a node leaves some out, that shows only later, when the blocks are read in full.
 */
export async function readCatalogueBeforeTip(options: Options): Promise<{ block: number; hash: string }> {
  const { clickhouse, rpc, log, retryDatabase, to } = options
  const ledger = await retryDatabase('read the ledger', () => openLedger(clickhouse, CATALOGUE, FIRST_BLOCK))
  const known = await retryDatabase('read the stables', () => allStablecoins(clickhouse, { before_block: ledger.next }))
  const registry = createRegistry(known, [])
  let { last } = ledger
  for (const range of catalogueRanges(ledger.next, to, ledger.unfinished)) {
    const batch = await rpc.persist(`read the catalogue of blocks ${range.from} to ${range.to}`, () =>
      readCatalogueBatch(options, registry, range),
    )
    await retryDatabase(`write the catalogue of blocks ${range.from} to ${range.to}`, async () => {
      const mayBeThere = await ledger.plan(batch)
      await writeBatch(clickhouse, batch, ':catalogue', mayBeThere)
      await ledger.commit()
    })
    last = { block: batch.to, hash: batch.lastHash }
    log.info({ block: batch.to, of: to }, 'read the catalogue')
  }
  if (last?.block !== to) throw new Error(`the catalogue ends at block ${last?.block}, not at ${to}`)
  return last
}
