import { z } from 'zod'
import type { BlockRange } from '../../ingest/chain/block-ranges.js'
import { readAhead } from '../../ingest/stages/read-ahead.js'
import { readSegments, rpcFor } from './segments.js'
import type { Database } from './stack.js'

type Call = { method: string; params: unknown[] }
/** The calls of a segment: those that read its blocks, and then those that read what its logs do not tell. */
type SegmentCalls = { blocks: Call[]; states: Call[] }

/** Segments that are drained at the same time: as many as a backfill reads. */
const SEGMENTS_AHEAD = 4

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}

/** Every call that a backfill of a range makes, as it makes them; the database must hold the catalogue. */
export async function recordCalls(database: Database, rpcUrl: string, range: BlockRange): Promise<SegmentCalls[]> {
  const recorded: SegmentCalls[] = []
  let open: SegmentCalls = { blocks: [], states: [] }
  const onCall = (method: string, params: unknown[]) =>
    open[method === 'eth_call' ? 'states' : 'blocks'].push({ method, params })
  for await (const _ of readSegments(database, rpcUrl, range, onCall)) {
    recorded.push(open)
    open = { blocks: [], states: [] }
  }
  return recorded
}

/** Makes recorded calls again over the same transport, as many at once, and throws the answers away. */
export async function drainNode(database: Database, rpcUrl: string, segments: readonly SegmentCalls[]): Promise<void> {
  const rpc = rpcFor(database, rpcUrl)
  const makeAll = (calls: readonly Call[]) =>
    Promise.all(calls.map(({ method, params }) => rpc.request(method, params, z.unknown())))
  const drained = readAhead(each(segments), SEGMENTS_AHEAD, async ({ blocks, states }) => {
    await makeAll(blocks)
    await makeAll(states)
  })
  for await (const _ of drained);
}
