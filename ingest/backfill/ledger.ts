import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { type Family, newestBatch } from '../../clickhouse/chain/batches.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import { type BatchLedger, LedgerError, openLedger } from '../sinks/batch-ledger.js'
import type { RetryDatabase } from '../sinks/retry-database.js'

/** The track of blocks that are read by backfills. */
const BACKFILL = 'backfill'

/** How long an unfinished batch is watched before its writer counts as gone, in seconds. */
const WATCH_SECONDS = 20

/** Whether a batch is of blocks that are read again: a backfill never reads the catalogue. */
export const isOfAgain = ({ families }: { families: readonly Family[] }): boolean => families.includes('catalogue')

type Options = { clickhouse: ClickHouseClient; retryDatabase: RetryDatabase; log: Logger; signal: AbortSignal }

/**
 * The ledger of backfills. An unfinished batch is watched for a while, because its writer may still be running; if it
 * is, throws LedgerError, as only one backfill may run at a time.
 */
export async function openBackfillLedger({ clickhouse, retryDatabase, log, signal }: Options): Promise<BatchLedger> {
  const ledger = await retryDatabase('read the ledger', () => openLedger(clickhouse, BACKFILL, FIRST_BLOCK))
  if (!ledger.unfinished) return ledger
  const { from, to } = ledger.unfinished
  log.info({ from, to, seconds: WATCH_SECONDS }, 'a batch is unfinished: checking that no other backfill is writing it')
  for (let second = 0; second < WATCH_SECONDS; second++) {
    await sleep(1000, undefined, { signal })
    const newest = await retryDatabase('read the ledger', () => newestBatch(clickhouse, { track: BACKFILL }))
    if (newest?.sequence_number !== ledger.sequence || newest.committed) throw new LedgerError()
  }
  return ledger
}
