import type { ClickHouseClient } from '@clickhouse/client'
import { blocksAfter, blockTotals, newestBlock } from '../chain/blocks.js'
import { readMissingFacts } from '../chain/gaps.js'
import { chainHead } from '../chain/heads.js'
import type { QuerySignal } from '../store/define-query.js'
import type { SlotJob } from './periods.js'
import { jobStatuses } from './runs.js'

/** The whole seconds from one instant to a later one; 0 where the clock is behind the chain. */
export const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000))

/**
 * How far ingest and `jobs` have come, and what is known to be missing: what /status shows, what /metrics counts and
 * what the health monitor judges. Rejects with QueryError.
 */
export async function readProgress(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  options?: { signal?: QuerySignal },
) {
  const [head, newest, totals, statuses, missing] = await Promise.all([
    chainHead(clickhouse, options),
    newestBlock(clickhouse, options),
    blockTotals(clickhouse, options),
    jobStatuses(clickhouse, { jobs: jobs.map(({ name }) => name) }, options),
    readMissingFacts(clickhouse, options),
  ])
  const slots = statuses.flatMap(({ last_slot_at }) => (last_slot_at ? [last_slot_at] : []))
  const after = await blocksAfter(clickhouse, slots, options)
  const blocks = totals ? totals.last_block - totals.first_block + 1 - totals.missing : 0
  return {
    head,
    newest_block: newest,
    /**
     * How many blocks the chain has after the newest one that is in; null without a head or a block. A head that is
     * older than the newest block says nothing new.
     */
    blocks_to_head: head && newest ? Math.max(0, head.block_number - newest.block_number) : null,
    missing_blocks: totals?.missing ?? 0,
    missing_facts: missing,
    /** `blocks_after`: how many blocks after its newest slot are in, all of them where it never did one. */
    jobs: statuses.map((status) => ({
      ...status,
      blocks_after: status.last_slot_at ? (after[slots.indexOf(status.last_slot_at)] ?? 0) : blocks,
    })),
  }
}
