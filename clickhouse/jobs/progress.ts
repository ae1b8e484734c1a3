import type { ClickHouseClient } from '@clickhouse/client'
import { catalogueProgress } from '../chain/batches.js'
import { blocksAfter, blockTotals, newestBlock } from '../chain/blocks.js'
import { readMissingFacts } from '../chain/gaps.js'
import { chainHead, HEAD_SECONDS } from '../chain/heads.js'
import type { QuerySignal } from '../store/define-query.js'
import type { SlotJob } from './periods.js'
import { jobStatuses } from './runs.js'
import { dueLag, dueSlotCount, type SlotHistory, slotHistory, waitingSlots } from './slots.js'

/** The whole seconds from one instant to a later one; 0 if the clock is behind the chain. */
export const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000))

/** The whole seconds until a catalogue reaches the head; null if its speed is not known. */
const etaOf = (
  { block_number, blocks_per_second }: { block_number: number; blocks_per_second: number | null },
  head: { block_number: number },
): number | null =>
  blocks_per_second ? Math.ceil(Math.max(0, head.block_number - block_number) / blocks_per_second) : null

/**
 * The progress of ingest and of `jobs` at `now`, and the facts known to be missing. /status shows it, /metrics counts it, and
 * the health monitor evaluates it every minute. Rejects with QueryError.
 */
export async function readProgress(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  now: Date,
  options?: { signal?: QuerySignal },
) {
  const [head, newest, totals, statuses, missing, history, catalogue] = await Promise.all([
    chainHead(clickhouse, options),
    newestBlock(clickhouse, options),
    blockTotals(clickhouse, options),
    jobStatuses(clickhouse, { jobs: jobs.map(({ name }) => name) }, options),
    readMissingFacts(clickhouse, options),
    slotHistory(clickhouse, options),
    catalogueProgress(clickhouse, { now }, options),
  ])
  const dueLagOf = (name: string, lag: number | null): number | null => {
    const job = jobs.find((job) => job.name === name)
    return job ? dueLag(job, history, lag) : lag
  }
  const slots = statuses.flatMap(({ last_slot_at }) => (last_slot_at ? [last_slot_at] : []))
  const after = await blocksAfter(clickhouse, slots, options)
  const blocks = totals ? totals.last_block - totals.first_block + 1 - totals.missing : 0
  return {
    head,
    newest_block: newest,
    /** How far a first start has read the blocks before its first one, up to the head of when it began; null otherwise. */
    catalogue: catalogue && head && { ...catalogue, to_block: head.block_number, eta_seconds: etaOf(catalogue, head) },
    /**
     * How many blocks the chain has after the newest ingested one; null without a block, or if the node has not been
     * asked for its head in the last minute. 0 if the recorded head is older than the newest block.
     */
    blocks_to_head:
      head && newest && secondsBetween(head.seen_at, now) <= HEAD_SECONDS
        ? Math.max(0, head.block_number - newest.block_number)
        : null,
    missing_blocks: totals?.missing ?? 0,
    missing_facts: missing,
    history,
    /**
     * `blocks_after`: how many ingested blocks are after the job's newest slot, or all of them if it never completed
     * one. `due_lag_seconds`: the lag without slots that wait for facts which are not read.
     */
    jobs: statuses.map((status) => ({
      ...status,
      due_lag_seconds: dueLagOf(status.job, status.lag_seconds),
      blocks_after: status.last_slot_at ? (after[slots.indexOf(status.last_slot_at)] ?? 0) : blocks,
    })),
  }
}

/**
 * By job, how many of its slots wait for facts that are not read, and why (null if none does), and how many could be done now
 * (null before the first block). Many times the work of the rest. Rejects with QueryError.
 */
export async function countSlots(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  history: SlotHistory | null,
  options?: { signal?: QuerySignal },
) {
  const counts = await Promise.all(
    jobs.map(async (job) => {
      const [waiting, due] = history
        ? await Promise.all([
            waitingSlots(clickhouse, job, history, options),
            dueSlotCount(clickhouse, job, history, options),
          ])
        : [null, null]
      return [job.name, { waiting, due }] as const
    }),
  )
  return new Map(counts)
}
