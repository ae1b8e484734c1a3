import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** The newest block of a tag, as the node says it. `block_time` in unix seconds. */
export type ChainHead = { tag: 'latest' | 'finalized'; block_number: number; block_time: number }

/** Notes that this is the head now. */
export const insertChainHead = (clickhouse: ClickHouseClient, head: ChainHead): Promise<void> =>
  insertRows(clickhouse, 'chain_heads', [head], randomUUID())
