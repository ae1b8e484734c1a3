import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime } from '../store/values.js'

/** What becomes of a call to the node, each a column of node_calls; the columns say what they mean. */
export const CALL_OUTCOMES = ['ok', 'limited', 'too_large', 'no_state', 'late', 'failed'] as const
export type CallOutcome = (typeof CALL_OUTCOMES)[number]

/** Calls of the last minute by outcome, and how often the chain has changed in the last hour. */
export type NodeCalls = Record<CallOutcome, number> & { chain_changes: number }

/** Records that these are the calls of ingest now. */
export const insertNodeCalls = (clickhouse: ClickHouseClient, calls: NodeCalls): Promise<void> =>
  insertRows(clickhouse, 'node_calls', [{ program: 'ingest', ...calls }], randomUUID())

/** The calls of ingest as it last recorded them, and when it did; null before the first time. */
export const nodeCalls = defineOptionalRow({
  name: 'node_calls',
  row: z.object({
    ...{ ok: z.int(), limited: z.int(), too_large: z.int(), no_state: z.int(), late: z.int(), failed: z.int() },
    ...{ chain_changes: z.int(), noted_at: dateTime },
  }),
  sql: `
    SELECT ${CALL_OUTCOMES.join(', ')}, chain_changes, noted_at FROM node_calls
    WHERE program = 'ingest' ORDER BY node_calls.noted_at DESC LIMIT 1`,
})
