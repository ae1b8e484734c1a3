import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { newestRollback } from '../../clickhouse/chain/rollbacks.js'
import { catchUp } from '../../clickhouse/store/replicas.js'
import { type BatchLedger, openLedger } from '../sinks/batch-ledger.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { completeRollback, planRollback } from '../sinks/roll-back.js'
import type { Rpc } from '../sources/rpc.js'
import { findFork } from './find-fork.js'

type Options = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  track: string
  firstBlock: number
  /** The block before the first one; null if that is the genesis block. */
  base: { block: number; hash: string } | null
  /** The most blocks that may be rolled back. */
  deepest: number
  retryDatabase: RetryDatabase
  log: Logger
}

/**
 * Rolls back blocks that the node no longer has, and finishes an unfinished rollback; resolves to the ledger of what
 * remains. Nothing may be written meanwhile. Throws ReorgTooDeepError or LedgerError.
 */
export async function reconcileWithNode(options: Options): Promise<BatchLedger> {
  const { clickhouse, rpc, track, firstBlock, base, deepest, retryDatabase, log } = options
  for (;;) {
    // Another replica may have taken what an earlier process wrote.
    await retryDatabase('sync the replica', () => catchUp(clickhouse))
    const rollback = await retryDatabase('read the rollbacks', () => newestRollback(clickhouse))
    if (rollback && !rollback.done) {
      const { sequence_number, kept_block, removed_to, reason } = rollback
      log.warn(
        { sequence_number, reason },
        `the chain was reorganized: removing blocks ${kept_block + 1} to ${removed_to}`,
      )
      await completeRollback(clickhouse, rollback, retryDatabase)
      log.warn({ sequence_number }, 'the rollback is done')
    }
    const ledger = await retryDatabase('read the ledger', () => openLedger(clickhouse, track, firstBlock))
    const fork = await rpc.persist('compare the newest blocks', () =>
      findFork({ clickhouse, rpc, ledger, deepest, firstBlock, base }),
    )
    if (!fork) return ledger
    const plan = {
      ...fork,
      sequence_number: ledger.rollback?.sequence_number ?? 0,
      removed_to: Math.max(ledger.last?.block ?? 0, ledger.unfinished?.to ?? 0, ledger.rollback?.removed_to ?? 0),
      after_sequence: ledger.sequence,
    }
    await retryDatabase('plan the rollback', () => planRollback(clickhouse, track, plan))
  }
}
