import type { ClickHouseClient } from '@clickhouse/client'
import { allHistoryChanges } from '../../../clickhouse/chain/history-changes.js'
import { allRollbacks } from '../../../clickhouse/chain/rollbacks.js'
import { completedSlots } from '../../../clickhouse/jobs/runs.js'
import { slotsByJob } from '../../../oracle/searched.js'

/**
 * The newest slot that a job has completed and that no rollback or backfill has affected since, by the definition, in unix
 * seconds; undefined before its first run.
 */
export async function jobHorizon(clickhouse: ClickHouseClient, job: string): Promise<number | undefined> {
  const runs = await completedSlots(clickhouse)
  const slots = slotsByJob(runs, await allRollbacks(clickhouse), await allHistoryChanges(clickhouse))
  return slots.get(job)?.searched.at(-1)
}
