import type { ClickHouseClient } from '@clickhouse/client'
import { allStablecoins } from '../../clickhouse/queries/all-stablecoins.js'
import { dexOrdersById } from '../../clickhouse/queries/dex-orders-by-id.js'
import { issuerChanges } from '../../clickhouse/queries/issuer-changes.js'
import type { Facts } from '../../clickhouse/tables/facts.js'
import { ahead } from '../ahead.js'
import { completeBatch } from '../batch.js'
import { type BatchReader, type DecodedBatch, decodeBatch, FIRST_BLOCK } from '../decode.js'
import { createIssuers } from '../issuers.js'
import { createOrders } from '../orders.js'
import { createRegistry } from '../registry.js'
import type { Scope } from '../scope.js'
import { type BlockWithLogs, readBlocks } from '../sources/blocks.js'
import type { Rpc } from '../sources/rpc.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import { blockRanges } from '../stages/block-ranges.js'

export type RereadOptions = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  track: 'all' | 'listed'
  listed: ReadonlySet<string>
  /** Blocks in a range where all are read. */
  rangeSize: number
}

/** Facts of blocks made anew. Without states, which the node drops some day, there are those of the logs only. */
export type Reread = { facts: Facts; blocks: number; hasStates: boolean }

/** What is read where the node has no states. */
const OF_LOGS: Scope = { families: ['catalogue', 'logs'], only: [], except: [] }

/** Ranges in work at a time. */
const DEPTH = 3

const read = (rpc: Rpc, from: number, to: number): Promise<BlockWithLogs[]> =>
  rpc.persist(`read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to))

async function complete(reader: BatchReader, batch: DecodedBatch): Promise<Reread> {
  const blocks = batch.decoded.length
  try {
    return { facts: (await completeBatch(reader, batch)).facts, blocks, hasStates: true }
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error
    return { facts: (await completeBatch(reader, batch, OF_LOGS)).facts, blocks, hasStates: false }
  }
}

/** Decodes blocks; where the node cannot tell any more which stables the chain began with, all but the first block. */
async function decode(options: RereadOptions, reader: BatchReader, blocks: BlockWithLogs[]): Promise<DecodedBatch> {
  try {
    return await decodeBatch(reader, blocks)
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error
    for (const stable of await allStablecoins(options.clickhouse, { before_block: FIRST_BLOCK + 1 })) {
      reader.registry.add(stable)
    }
    return blocks.length > 1 ? decodeBatch(reader, blocks.slice(1)) : { genesis: [], decoded: [] }
  }
}

/**
 * All facts of the blocks `first` to `last`, made anew from the chain alone, range by range. `first` has to be the first
 * block.
 */
export async function* rereadAll(options: RereadOptions, first: number, last: number): AsyncGenerator<Reread> {
  const { clickhouse, rpc, track, listed, rangeSize } = options
  const reader: BatchReader = {
    rpc,
    listed,
    registry: createRegistry([], track),
    issuers: createIssuers([]),
    // Only orders that were placed too long ago to be at hand come from the database, which is compared as well.
    orders: createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids })),
  }
  async function* head(): AsyncGenerator<number> {
    yield last
  }
  async function* decoded(): AsyncGenerator<DecodedBatch> {
    const ranges = blockRanges(head(), first, rangeSize, null)
    for await (const blocks of ahead(ranges, DEPTH, ({ from, to }) => read(rpc, from, to))) {
      const batch = await decode(options, reader, blocks)
      if (batch.decoded.length > 0) yield batch
    }
  }
  yield* ahead(decoded(), DEPTH, (batch) => complete(reader, batch))
}

/**
 * The facts of single blocks, each made anew from the chain, and from the stables and orders that the database has of
 * the blocks before.
 */
export async function* rereadSome(options: RereadOptions, numbers: readonly number[]): AsyncGenerator<Reread> {
  const { clickhouse, rpc, track, listed } = options
  const orders = createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids }))
  async function* each(): AsyncGenerator<number> {
    yield* numbers
  }
  const reread = ahead(each(), DEPTH, async (number): Promise<Reread | null> => {
    const [blocks, stables, issuers] = await Promise.all([
      read(rpc, number, number),
      allStablecoins(clickhouse, { before_block: number === FIRST_BLOCK ? 0 : number }),
      issuerChanges(clickhouse, { before_block: number }),
    ])
    const reader: BatchReader = {
      rpc,
      listed,
      orders,
      issuers: createIssuers(issuers),
      registry: createRegistry(stables, track),
    }
    const batch = await decode(options, reader, blocks)
    return batch.decoded.length > 0 ? complete(reader, batch) : null
  })
  for await (const one of reread) if (one) yield one
}
