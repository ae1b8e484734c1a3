import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import { type ReadOptions, readCatalogue } from '../batch/read-catalogue.js'
import { createRegistry } from '../knowledge/registry.js'
import { openLedger } from '../sinks/batch-ledger.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { writeBatch } from '../sinks/write-batch.js'

/** The track of the catalogue of the blocks before the tip's first block. */
export const CATALOGUE = 'catalogue'

/** How often progress is logged, in milliseconds. */
const LOG_MS = 5000

type Options = ReadOptions & { to: number; clickhouse: ClickHouseClient; log: Logger; retryDatabase: RetryDatabase }

/**
 * Stores what is needed to decode the logs of later blocks: the stables, their quote tokens and the orders of all
 * blocks up to `to`, which must be final. Resumes where it stopped; resolves to the last block. Only these logs are
 * requested and only some headers, so if a node leaves a few out, that may show only later, when the blocks are read in full.
 */
export async function readCatalogueBeforeTip(options: Options): Promise<{ block: number; hash: string }> {
  const { clickhouse, log, retryDatabase, to } = options
  const ledger = await retryDatabase('read the ledger', () => openLedger(clickhouse, CATALOGUE, FIRST_BLOCK))
  const stables = await retryDatabase('read the stables', () =>
    allStablecoins(clickhouse, { before_block: ledger.next }),
  )
  const registry = createRegistry(stables, [], [])
  const { unfinished } = ledger
  const remaining = { from: unfinished ? unfinished.to + 1 : ledger.next, to }
  const report = progressOf(remaining.from, to, log)
  let { last } = ledger

  async function* batches() {
    if (unfinished) yield* readCatalogue(options, registry, unfinished, true)
    if (remaining.from <= to) yield* readCatalogue(options, registry, remaining)
  }
  for await (const batch of batches()) {
    await retryDatabase(`write the catalogue of blocks ${batch.from} to ${batch.to}`, async () => {
      const mayBeThere = await ledger.plan(batch)
      await writeBatch(clickhouse, batch, ':catalogue', mayBeThere)
      await ledger.commit()
    })
    last = { block: batch.to, hash: batch.lastHash }
    report(batch.to)
  }
  if (last?.block !== to) throw new Error(`the catalogue ends at block ${last?.block}, not at ${to}`)
  return last
}

/** Logs how far the catalogue is read, every few seconds and at the end, and when it will be. */
function progressOf(from: number, to: number, log: Logger): (block: number) => void {
  const began = performance.now()
  let loggedAt = began
  return (block) => {
    const now = performance.now()
    if (block < to && now - loggedAt < LOG_MS) return
    loggedAt = now
    const perSecond = (block - from + 1) / Math.max((now - began) / 1000, 0.001)
    const seconds_left = Math.ceil((to - block) / Math.max(perSecond, 1))
    log.info({ block, of: to, blocks_per_second: Math.round(perSecond), seconds_left }, 'read the catalogue')
  }
}
