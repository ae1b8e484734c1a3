import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime } from '../store/values.js'

/** The newest block of a tag, as the node reports it. `block_time` in unix seconds. */
export type ChainHead = { tag: 'latest' | 'finalized'; block_number: number; block_time: number }

/**
 * How long a recorded head counts as the head of the chain, in seconds. Ingest records it every few seconds; if it has not
 * for this long, nobody knows how many blocks the chain has had since.
 */
export const HEAD_SECONDS = 60

/** Records that this is the head now. */
export const insertChainHead = (clickhouse: ClickHouseClient, head: ChainHead): Promise<void> =>
  insertRows(clickhouse, 'chain_heads', [head], randomUUID())

/**
 * The newest block that ingest may read, as its node last reported it, and when it did; null before the first report.
 */
export const chainHead = defineOptionalRow({
  name: 'chain_head',
  row: z.object({ tag: z.string(), block_number: z.int(), block_time: dateTime, seen_at: dateTime }),
  sql: `
    SELECT tag, toUInt32(block_number) AS block_number, block_time, seen_at
    FROM chain_heads ORDER BY chain_heads.seen_at DESC LIMIT 1`,
})
