import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, onlyColumn, type QuerySignal } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** The position in the chain of a fact derived from a log. `block_time` is in unix seconds. */
export type FactPosition = { block_number: number; log_index: number; block_time: number; tx_hash: string }

/** A block that ingest has read. `block_time` is in unix seconds; all numbers fit in a double. */
export type Block = {
  block_number: number
  block_time: number
  block_hash: string
  parent_hash: string
  tx_count: number
  log_count: number
}

/** The ingested blocks from `from_block` to `to_block`, both included, oldest first. Times in unix seconds. */
export const blockHashes = defineQuery({
  name: 'block_hashes',
  params: z.object({ from_block: z.int(), to_block: z.int() }),
  row: z.object({ block_number: z.int(), block_hash: z.string(), block_time: z.int() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, block_hash, toUnixTimestamp(block_time) AS block_time
    FROM blocks WHERE blocks.block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}
    ORDER BY blocks.block_number`,
})

/** The block with this number; null if it is not ingested. */
export const blockAt = async (clickhouse: ClickHouseClient, block_number: number) =>
  (await blockHashes(clickhouse, { from_block: block_number, to_block: block_number }))[0] ?? null

/** The newest ingested block at or before an instant; null if there is none. */
export const blockUntil = defineOptionalRow({
  name: 'block_until',
  params: z.object({ at: z.date() }),
  row: onlyColumn('block_number', z.int()),
  sql: `
    SELECT toUInt32(block_number) AS block_number FROM blocks
    WHERE block_time <= {at: DateTime} ORDER BY blocks.block_number DESC LIMIT 1`,
})

/** The first ingested block after a time in unix seconds, and its own; null if there is none. */
export const firstBlockAfter = defineOptionalRow({
  name: 'first_block_after',
  params: z.object({ time: z.int() }),
  row: z.object({ number: z.int(), hash: z.string(), time: z.int() }),
  sql: `
    SELECT toUInt32(block_number) AS number, block_hash AS hash, toUnixTimestamp(block_time) AS time
    FROM blocks WHERE block_time > {time: UInt32} ORDER BY block_number LIMIT 1`,
})

/** How far before an instant the newest block by then is looked for first, in seconds. */
const RECENT_SECONDS = 172_800

/**
 * SQL: the time of the newest ingested block at or before an instant, an expression; null before the first. Asked for it at
 * once, the engine begins to read every month there is. The second read finds nothing to read if the first has found one.
 */
export function newestBlockTime(at: string): string {
  const newest = (condition: string): string =>
    `(SELECT block_time FROM blocks WHERE ${condition} ORDER BY block_number DESC LIMIT 1)`
  const recent = newest(
    `block_time <= ${at} AND block_time >= least(${at}, (SELECT max(block_time) FROM blocks)) - ${RECENT_SECONDS}`,
  )
  return `ifNull(${recent}, ${newest(`block_time <= if(${recent} IS NULL, ${at}, toDateTime(0))`)})`
}

/** The newest block whose facts are all ingested; null before the first. */
export const newestBlock = defineOptionalRow({
  name: 'newest_block',
  row: z.object({ block_number: z.int(), block_time: dateTime }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, block_time
    FROM blocks WHERE block_time >= (SELECT max(block_time) FROM blocks) ORDER BY blocks.block_number DESC LIMIT 1`,
})

/** The times of the oldest and the newest ingested block, in unix seconds; null before the first. */
export const chainSpan = defineOptionalRow({
  name: 'chain_span',
  row: z.object({ oldest: z.int(), newest: z.int() }),
  sql: `
    SELECT toUnixTimestamp(min(block_time)) AS oldest, toUnixTimestamp(max(block_time)) AS newest
    FROM blocks HAVING count() > 0`,
})

/** The first and the last ingested block, and how many are missing between them; null before the first. */
export const blockTotals = defineOptionalRow({
  name: 'block_totals',
  row: z.object({ first_block: z.int(), last_block: z.int(), missing: z.int() }),
  sql: `
    SELECT toUInt32(min(block_number)) AS first_block, toUInt32(max(block_number)) AS last_block,
           toUInt32(last_block - first_block + 1 - count()) AS missing
    FROM blocks HAVING count() > 0`,
})

const blockCountsSince = defineOptionalRow({
  name: 'blocks_since',
  params: z.object({ times: z.array(z.date()), oldest: z.date() }),
  row: onlyColumn('counts', z.array(z.int())),
  sql: `
    SELECT arrayMap(sum -> toUInt32(sum), sumForEach(arrayMap(time -> toUInt32(block_time > time), {times: Array(DateTime)}))) AS counts
    FROM blocks WHERE block_time > {oldest: DateTime}
    HAVING count() > 0`,
})

/** For each of `times`, in their order, how many ingested blocks are after it. */
export async function blocksAfter(
  clickhouse: ClickHouseClient,
  times: readonly Date[],
  options?: { signal?: QuerySignal },
): Promise<number[]> {
  if (times.length === 0) return []
  const oldest = new Date(Math.min(...times.map((time) => time.getTime())))
  const counts = await blockCountsSince(clickhouse, { times: [...times], oldest }, options)
  return times.map((_, index) => counts?.[index] ?? 0)
}
