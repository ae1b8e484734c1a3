import type { ClickHouseClient } from '@clickhouse/client'
import pRetry from 'p-retry'
import type { Logger } from 'pino'
import { allStablecoins } from '../clickhouse/queries/all-stablecoins.js'
import { dexOrdersById } from '../clickhouse/queries/dex-orders-by-id.js'
import { PlumblineError } from '../domain/errors.js'
import { ahead } from './ahead.js'
import { type BatchReader, completeBatch, type DecodedBatch, decodeBatch, FIRST_BLOCK } from './batch.js'
import { listedTokens, NETWORKS } from './chain/networks.js'
import { claimDatabase, readChainIdentity } from './chain-check.js'
import type { IngestConfig } from './config.js'
import { createOrders } from './orders.js'
import { createRegistry } from './registry.js'
import { openLedger } from './sinks/batch-ledger.js'
import { completeWrite, writeBatch } from './sinks/write-batch.js'
import { type BlockWithLogs, readBlocks } from './sources/blocks.js'
import { followHead } from './sources/heads.js'
import { rpcAt } from './sources/rpc.js'
import { blockRanges } from './stages/block-ranges.js'

/** Ranges whose blocks and logs are fetched before their turn, and batches whose quotes and states are. */
const RANGES_AHEAD = 4
const BATCHES_AHEAD = 3
/** ClickHouse may be away for about ten minutes before ingest gives up. */
const WRITE_ATTEMPTS = 70

async function* decodeBatches(
  reader: BatchReader,
  ranges: AsyncIterable<BlockWithLogs[]>,
): AsyncGenerator<DecodedBatch> {
  for await (const blocks of ranges) yield await decodeBatch(reader, blocks)
}

export type Ingest = { clickhouse: ClickHouseClient; config: IngestConfig; log: Logger; signal: AbortSignal }

/**
 * Takes in the chain: yields the last block of each batch once all its facts are written, until `signal` aborts.
 * Continues where the database ends. Rejects when the node or ClickHouse fail for long, and at once when the
 * database and the node disagree about the chain.
 */
export async function* ingest({
  clickhouse,
  config,
  log,
  signal,
}: Ingest): AsyncGenerator<{ block: number; time: number; blocks: number }> {
  const rpc = rpcAt({
    url: config.RPC_URL,
    batchSize: config.RPC_BATCH_SIZE,
    timeoutMs: config.RPC_TIMEOUT_MS,
    attempts: config.RPC_ATTEMPTS,
    log,
    signal,
  })
  const persistWrite = <Result>(what: string, write: () => Promise<Result>): Promise<Result> =>
    pRetry(write, {
      retries: WRITE_ATTEMPTS - 1,
      minTimeout: 200,
      maxTimeout: 10_000,
      signal,
      shouldRetry: ({ error }) => error instanceof PlumblineError && error.retryable,
      onFailedAttempt: ({ error, attemptNumber }) => {
        log.warn({ attempt: attemptNumber, reason: error.message.split('\n')[0] }, `${what} failed`)
      },
    })

  const chain = await readChainIdentity(rpc, config.CHAIN)
  await persistWrite('claim the database', () => claimDatabase(clickhouse, chain))
  const ledger = await persistWrite('read the ledger', () => openLedger(clickhouse, 'tip', FIRST_BLOCK))
  const stables = await persistWrite('read the stables', () =>
    allStablecoins(clickhouse, { before_block: ledger.next }),
  )
  log.info({ ...chain, next: ledger.next, unfinished: ledger.unfinished, stables: stables.length }, 'starts')

  const track = config.TRACK ?? (config.CHAIN === 'devnet' ? 'all' : 'listed')
  const reader: BatchReader = {
    rpc,
    registry: createRegistry(stables, track),
    orders: createOrders((order_ids) => persistWrite('read orders', () => dexOrdersById(clickhouse, { order_ids }))),
    listed: listedTokens(chain.chain_id),
  }
  const heads = followHead(rpc, {
    tag: NETWORKS[config.CHAIN].head,
    wsUrl: config.RPC_WS_URL ?? null,
    pollMs: config.POLL_INTERVAL_MS,
    log,
    signal,
  })
  const ranges = blockRanges(heads, ledger.next, config.BATCH_BLOCKS, ledger.unfinished)
  const blocks = ahead(ranges, RANGES_AHEAD, ({ from, to }) =>
    rpc.persist(`read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to)),
  )
  const batches = ahead(decodeBatches(reader, blocks), BATCHES_AHEAD, (decoded) => completeBatch(reader, decoded))
  for await (const batch of batches) {
    await persistWrite(`write blocks ${batch.from} to ${batch.to}`, async () => {
      const isRepeated = await ledger.plan(batch)
      await writeBatch(clickhouse, batch)
      if (isRepeated) await completeWrite(clickhouse, batch)
      await ledger.commit()
    })
    yield { block: batch.to, time: batch.lastTime, blocks: batch.to - batch.from + 1 }
  }
}
