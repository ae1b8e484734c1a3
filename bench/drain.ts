import { pino } from 'pino'
import { z } from 'zod'
import { allStablecoins } from '../clickhouse/queries/all-stablecoins.js'
import { dexOrdersById } from '../clickhouse/queries/dex-orders-by-id.js'
import { ahead } from '../ingest/ahead.js'
import { segmentsOf } from '../ingest/backfill/missing.js'
import { readSegment } from '../ingest/backfill/read-segment.js'
import { IngestConfig } from '../ingest/config.js'
import { createOrders } from '../ingest/orders.js'
import { createRegistry } from '../ingest/registry.js'
import { persistWriteWith } from '../ingest/sinks/persist-write.js'
import { type Rpc, rpcOf } from '../ingest/sources/rpc.js'
import type { BlockRange } from '../ingest/stages/block-ranges.js'
import type { Database } from './stack.js'

type Call = { method: string; params: unknown[] }
/** The calls of a segment: those that read its blocks, and then those that read what its logs do not tell. */
type SegmentCalls = { blocks: Call[]; states: Call[] }

/** Segments that are drained at the same time: as many as a backfill reads. */
const SEGMENTS_AHEAD = 4

const options = (database: Database, rpcUrl: string) => {
  const config = IngestConfig.parse({ ...database.env, RPC_URL: rpcUrl, CHAIN: 'devnet' })
  const log = pino({ level: 'silent' })
  const { signal } = new AbortController()
  return { config, log, signal, rpc: rpcOf(config, log, signal) }
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}

/** Every call that a backfill of a range makes, as it makes them; the database must hold the catalogue. */
export async function recordCalls(database: Database, rpcUrl: string, range: BlockRange): Promise<SegmentCalls[]> {
  const { config, log, signal, rpc } = options(database, rpcUrl)
  const { clickhouse } = database
  const persistWrite = persistWriteWith(log, signal)
  const registry = createRegistry(await allStablecoins(clickhouse, { before_block: range.to + 1 }), 'all')
  const orders = createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids }))
  const scope = { families: ['logs', 'pegs', 'state'] as const, only: [], except: [] }
  const recorded: SegmentCalls[] = []
  for (const segment of segmentsOf([{ ...range, scope }], config.BATCH_BLOCKS, false)) {
    const calls: SegmentCalls = { blocks: [], states: [] }
    const recording: Rpc = {
      ...rpc,
      request: (method, params, shape) => {
        calls[method === 'eth_call' ? 'states' : 'blocks'].push({ method, params })
        return rpc.request(method, params, shape)
      },
    }
    await readSegment({ clickhouse, persistWrite, rpc: recording, registry, orders, listed: new Set() }, segment)
    recorded.push(calls)
  }
  return recorded
}

/** Makes recorded calls again over the same transport, as many at once, and throws the answers away. */
export async function drainNode(database: Database, rpcUrl: string, segments: readonly SegmentCalls[]): Promise<void> {
  const { rpc } = options(database, rpcUrl)
  const makeAll = (calls: readonly Call[]) =>
    Promise.all(calls.map(({ method, params }) => rpc.request(method, params, z.unknown())))
  const drained = ahead(each(segments), SEGMENTS_AHEAD, async ({ blocks, states }) => {
    await makeAll(blocks)
    await makeAll(states)
  })
  for await (const _ of drained);
}
