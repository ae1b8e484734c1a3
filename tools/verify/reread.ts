import type { ClickHouseClient } from '@clickhouse/client'
import { FAMILIES, isByStable } from '../../clickhouse/chain/batches.js'
import { decisiveBooks } from '../../clickhouse/chain/sampling.js'
import type { ListPeriod } from '../../clickhouse/chain/token-lists.js'
import type { Facts } from '../../clickhouse/facts/facts.js'
import { dexOrdersById } from '../../clickhouse/flows/dex.js'
import { issuerRoleChanges } from '../../clickhouse/roles/roles.js'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import { completeBatch } from '../../ingest/batch/complete-batch.js'
import { type DecodedBatch, decodeBatch, FIRST_BLOCK, type OrderedReader } from '../../ingest/batch/decode.js'
import { unquoted } from '../../ingest/batch/quote-batch.js'
import { readCatalogue } from '../../ingest/batch/read-catalogue.js'
import { moveBatch } from '../../ingest/batch/read-movements.js'
import type { Scope } from '../../ingest/batch/scope.js'
import { blockRanges } from '../../ingest/chain/block-ranges.js'
import { createIssuerRoles } from '../../ingest/knowledge/issuer-roles.js'
import { createOrders } from '../../ingest/knowledge/orders.js'
import { createPolicyUses } from '../../ingest/knowledge/policy-uses.js'
import { createRegistry } from '../../ingest/knowledge/registry.js'
import { type BlockWithLogs, readBlocks } from '../../ingest/sources/blocks.js'
import type { Rpc } from '../../ingest/sources/rpc.js'
import { StateUnavailableError } from '../../ingest/sources/state-unavailable.js'
import { readAhead } from '../../ingest/stages/read-ahead.js'
import { hasBlocks, type Stretch } from './stretches.js'

export type RereadOptions = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  /** Which stables were listed and sampled when. */
  periods: readonly ListPeriod[]
  /** Number of blocks in a range when all blocks are read. */
  rangeSize: number
}

/**
 * The facts of blocks of one stretch, read again: of all blocks from `from` to `to`, or only of `numbers`. Without
 * states, which nodes drop after some time, there are only the facts of the logs.
 */
export type Reread = {
  facts: Facts
  stretch: Stretch
  from: number
  to: number
  numbers: readonly number[]
  /** How many of the blocks have facts besides the catalogue. */
  blocks: number
  hasStates: boolean
}

/** Ranges that are processed concurrently. */
const DEPTH = 3

const read = (rpc: Rpc, from: number, to: number): Promise<BlockWithLogs[]> =>
  rpc.persist(`read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to))

const scopeOf = ({ isIn }: Stretch, hasStates: boolean): Scope => ({
  families: FAMILIES.filter((family) => isIn[family].length > 0 && (hasStates || !isByStable(family))),
  only: [],
  except: [],
})

type Decoded = { batch: DecodedBatch; stretch: Stretch }

async function complete(reader: OrderedReader, { batch, stretch }: Decoded): Promise<Reread> {
  const [from, to] = [batch.decoded[0]?.block.number ?? 0, batch.decoded.at(-1)?.block.number ?? 0]
  const range = { stretch, from, to, numbers: [], blocks: batch.decoded.length }
  const unquotedBatch = unquoted(await moveBatch(reader, batch, scopeOf(stretch, true)))
  const completed = async (hasStates: boolean): Promise<Reread> => {
    const { facts } = await completeBatch(reader, unquotedBatch, scopeOf(stretch, hasStates))
    return { ...range, facts, hasStates }
  }
  try {
    return await completed(true)
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error
    return completed(false)
  }
}

/** Decodes blocks; if the node can no longer report the genesis stables, all blocks but the first. */
async function decode(options: RereadOptions, reader: OrderedReader, blocks: BlockWithLogs[]): Promise<DecodedBatch> {
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

/** The catalogue of blocks for which nothing else is stored; `reader` learns it. */
async function* rereadCatalogue(
  options: RereadOptions,
  reader: OrderedReader,
  stretch: Stretch,
): AsyncGenerator<Reread> {
  for await (const { facts, from, to } of readCatalogue(options, reader.registry, stretch)) {
    for (const { base: stable, ...opened } of facts.dex_pairs) reader.registry.openBook({ stable, ...opened })
    for (const order of facts.dex_orders) reader.orders.place(BigInt(order.order_id), order)
    for (const flip of facts.dex_order_flips) reader.orders.flip(BigInt(flip.order_id), flip)
    reader.issuers.learn(facts.role_events)
    yield { facts, stretch, from, to, numbers: [], blocks: 0, hasStates: true }
  }
}

/**
 * Reads all facts of stretches again from the chain alone, range by range. The stretches must be contiguous and begin
 * with the first block.
 */
export async function* rereadAll(options: RereadOptions, stretches: readonly Stretch[]): AsyncGenerator<Reread> {
  const { clickhouse, rpc, periods, rangeSize } = options
  const reader: OrderedReader = {
    rpc,
    registry: createRegistry([], periods, []),
    quotesCompared: 0,
    readsAtAnyCost: true,
    issuers: createIssuerRoles([]),
    policies: createPolicyUses(),
    // Only orders that are no longer cached come from the database, where they are compared as well.
    orders: createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids })),
  }
  async function* decoded(stretch: Stretch): AsyncGenerator<Decoded> {
    async function* end(): AsyncGenerator<number> {
      yield stretch.to
    }
    const ranges = blockRanges(end(), stretch.from, rangeSize, null)
    for await (const blocks of readAhead(ranges, DEPTH, ({ from, to }) => read(rpc, from, to))) {
      const batch = await decode(options, reader, blocks)
      if (batch.decoded.length > 0) yield { batch, stretch }
    }
  }
  for (const stretch of stretches) {
    if (hasBlocks(stretch)) yield* readAhead(decoded(stretch), DEPTH, (next) => complete(reader, next))
    else {
      yield* rereadCatalogue(options, reader, stretch)
      // The events of these blocks have not been read, so what was known before may be out of date.
      reader.policies = createPolicyUses()
    }
  }
}

/**
 * Reads the facts of single blocks again from the chain, with the stables and orders of the earlier blocks from the
 * database.
 */
export async function* rereadSome(
  options: RereadOptions,
  stretches: readonly Stretch[],
  numbers: readonly number[],
): AsyncGenerator<Reread> {
  const { clickhouse, rpc, periods } = options
  const orders = createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids }))
  async function* each(): AsyncGenerator<number> {
    yield* numbers
  }
  const reread = readAhead(each(), DEPTH, async (number): Promise<Reread | null> => {
    const stretch = stretches.find(({ from, to }) => from <= number && number <= to) as Stretch
    const [blocks, stables, books, issuers] = await Promise.all([
      read(rpc, number, number),
      allStablecoins(clickhouse, { before_block: number === FIRST_BLOCK ? 0 : number }),
      decisiveBooks(clickhouse, periods, number),
      issuerRoleChanges(clickhouse, { before_block: number }),
    ])
    const reader: OrderedReader = {
      rpc,
      orders,
      issuers: createIssuerRoles(issuers),
      policies: createPolicyUses(),
      registry: createRegistry(stables, periods, books),
      quotesCompared: 0,
      readsAtAnyCost: true,
    }
    const batch = await decode(options, reader, blocks)
    if (batch.decoded.length === 0) return null
    return { ...(await complete(reader, { batch, stretch })), numbers: [number] }
  })
  for await (const block of reread) if (block) yield block
}
