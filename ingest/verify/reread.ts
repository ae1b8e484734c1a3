import type { ClickHouseClient } from '@clickhouse/client'
import { allStablecoins } from '../../clickhouse/queries/all-stablecoins.js'
import { dexOrdersById } from '../../clickhouse/queries/dex-orders-by-id.js'
import { ahead } from '../ahead.js'
import { type Batch, type BatchReader, completeBatch, type DecodedBatch, decodeBatch } from '../batch.js'
import { createOrders } from '../orders.js'
import { createRegistry } from '../registry.js'
import { type BlockWithLogs, readBlocks } from '../sources/blocks.js'
import type { Rpc } from '../sources/rpc.js'
import { blockRanges } from '../stages/block-ranges.js'

export type RereadOptions = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  track: 'all' | 'listed'
  listed: ReadonlySet<string>
  /** Blocks in a range where all are read. */
  rangeSize: number
}

/** Ranges in work at a time. */
const DEPTH = 3

const read = (rpc: Rpc, from: number, to: number): Promise<BlockWithLogs[]> =>
  rpc.persist(`read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to))

/** All facts of the blocks `first` to `last`, made anew from the chain alone, range by range. `first` has to be the first block. */
export async function* rereadAll(options: RereadOptions, first: number, last: number): AsyncGenerator<Batch> {
  const { clickhouse, rpc, track, listed, rangeSize } = options
  const reader: BatchReader = {
    rpc,
    listed,
    registry: createRegistry([], track),
    // Only orders that were placed too long ago to be at hand come from the database, which is compared as well.
    orders: createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids })),
  }
  async function* head(): AsyncGenerator<number> {
    yield last
  }
  async function* decoded(): AsyncGenerator<DecodedBatch> {
    const ranges = blockRanges(head(), first, rangeSize, null)
    for await (const blocks of ahead(ranges, DEPTH, ({ from, to }) => read(rpc, from, to))) {
      yield await decodeBatch(reader, blocks)
    }
  }
  yield* ahead(decoded(), DEPTH, (batch) => completeBatch(reader, batch))
}

/** The facts of single blocks, each made anew from the chain, and from the stables and orders that the database has of the blocks before. */
export async function* rereadSome(options: RereadOptions, numbers: readonly number[]): AsyncGenerator<Batch> {
  const { clickhouse, rpc, track, listed } = options
  const orders = createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids }))
  async function* each(): AsyncGenerator<number> {
    yield* numbers
  }
  yield* ahead(each(), DEPTH, async (number) => {
    const [blocks, stables] = await Promise.all([
      read(rpc, number, number),
      allStablecoins(clickhouse, { before_block: number === 1 ? 0 : number }),
    ])
    const reader: BatchReader = { rpc, listed, orders, registry: createRegistry(stables, track) }
    return completeBatch(reader, await decodeBatch(reader, blocks))
  })
}
