import type { ClickHouseClient } from '@clickhouse/client'
import { catalogueCounts } from '../../clickhouse/facts/catalogue-counts.js'
import { PlumblineError } from '../../process/errors.js'
import { type Completed, completeWithGaps } from '../batch/complete-with-gaps.js'
import { type BatchReader, type DecodedBatch, decodeOldBatch } from '../batch/decode.js'
import { quoteBatch, unquoted } from '../batch/quote-batch.js'
import { type MovedBatch, moveBatch } from '../batch/read-movements.js'
import type { Scope } from '../batch/scope.js'
import type { WithExchange } from '../knowledge/stored-exchange.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { readBlocks } from '../sources/blocks.js'
import type { Missing } from './missing.js'

/** The logs of a range do not match the stored catalogue of stables and orders, so one of the two is incomplete. */
class CatalogueError extends PlumblineError {
  constructor({ from, to }: Missing, table: string, stored: number, expected: number) {
    super(
      `the catalogue of blocks ${from} to ${to} does not match their logs: ${table} has ${stored} rows instead of ${expected}. A node returned incomplete logs: read the chain into a new CLICKHOUSE_DATABASE`,
      { retryable: false },
    )
  }
}

type Reader = BatchReader & { clickhouse: ClickHouseClient; retryDatabase: RetryDatabase; withExchange: WithExchange }

/** A segment after reading. */
export type ReadSegment = Completed & { segment: Missing }

/** Whether the quotes of the exchange are read: for pegs, and for the values of flows. */
export const needsBooks = ({ families }: Scope): boolean => families.includes('pegs') || families.includes('logs')

/** Reads a segment's blocks and makes the missing facts. Segments may be read concurrently and in any order. */
export async function readSegment(reader: Reader, segment: Missing): Promise<ReadSegment> {
  const decoded = decodedSegment(reader, segment)
  const quoted = needsBooks(segment.scope)
    ? await reader.withExchange(segment, decoded, quoteBatch)
    : unquoted(await decoded)
  return { segment, ...(await completeWithGaps(reader, quoted, segment.scope)) }
}

async function decodedSegment(reader: Reader, segment: Missing): Promise<MovedBatch> {
  const { from, to } = segment
  const { rpc } = reader
  const blocks = await rpc.persist(`read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to))
  const decoded = await decodeOldBatch(reader, blocks)
  await checkCatalogue(reader, segment, decoded)
  return moveBatch(reader, decoded, segment.scope)
}

/** Throws CatalogueError if the logs contain a stable, a quote token, a book, an order or a role that is not stored. */
async function checkCatalogue(reader: Reader, segment: Missing, { decoded }: DecodedBatch): Promise<void> {
  const { clickhouse, retryDatabase } = reader
  const ids = decoded.flatMap(({ facts }) => (facts.dex_orders ?? []).map(({ order_id }) => BigInt(order_id)))
  ids.sort((a, b) => (a < b ? -1 : 1))
  const range = {
    from_block: segment.from,
    to_block: segment.to,
    from_order: `${ids[0] ?? 0}`,
    to_order: `${ids.at(-1) ?? 0}`,
  }
  const stored = await retryDatabase('count the catalogue', () => catalogueCounts(clickhouse, range))
  for (const table of Object.keys(stored) as (keyof typeof stored)[]) {
    const expected = decoded.reduce((sum, { facts }) => sum + (facts[table]?.length ?? 0), 0)
    if (stored[table] !== expected) throw new CatalogueError(segment, table, stored[table], expected)
  }
}
