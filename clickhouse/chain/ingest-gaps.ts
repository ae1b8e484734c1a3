import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Family } from '../facts/facts.js'
import { insertRows } from '../store/insert.js'

/** A range of blocks, both ends included, of which a family could not be read, and why. */
export type IngestGap = { family: Family; from_block: number; to_block: number; reason: string }

/** Records gaps. Of several reasons for the same range the newest counts. */
export const insertIngestGaps = (clickhouse: ClickHouseClient, gaps: readonly IngestGap[]): Promise<void> =>
  insertRows(clickhouse, 'ingest_gaps', gaps, randomUUID())
