import type { ClickHouseClient } from '@clickhouse/client'
import { catalogueProgress } from '../chain/batches.js'
import { blocksAfter, blockTotals, newestBlock } from '../chain/blocks.js'
import { readMissingFacts } from '../chain/gaps.js'
import { chainHead, HEAD_SECONDS } from '../chain/heads.js'
import type { QuerySignal } from '../store/define-query.js'
import { readDoneSlots } from './done-slots.js'
import type { SlotJob } from './periods.js'
import { jobStatuses, slotRates } from './runs.js'
import { countSlotsOf, type DueSlots, dueLag, type SlotHistory, slotHistory } from './slots.js'

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

/** How far a job is with the slots that it could do now. */
type CatchUp = DueSlots & {
  /** Speed of the last minutes; null if it is not known. */
  slots_per_second: number | null
  /** Time left at that speed; null if it is not known. */
  eta_seconds: number | null
}

function catchUpOf(due: DueSlots, rate: { slots: number; elapsed_ms: number } | undefined): CatchUp {
  if (!rate) return { ...due, slots_per_second: null, eta_seconds: null }
  const slots_per_second = (1000 * rate.slots) / rate.elapsed_ms
  return {
    ...due,
    slots_per_second: Math.round(slots_per_second * 1000) / 1000,
    eta_seconds: Math.ceil(due.slots / slots_per_second),
  }
}

/**
 * By job, how many of its slots wait for facts that are not read, and why (null if none does), and those that could be done now:
 * their number (null before the first block), and the progress with them (null if there are none). Many times the work of the
 * rest. Rejects with QueryError.
 */
export async function countSlots(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  { history, now }: { history: SlotHistory | null; now: Date },
  options?: { signal?: QuerySignal },
) {
  if (!history) return new Map(jobs.map(({ name }) => [name, { waiting: null, due: null, catch_up: null }]))
  const [done, slotRatesOfJobs] = await Promise.all([
    readDoneSlots(clickhouse, { jobs }, options),
    slotRates(clickhouse, { now }, options),
  ])
  const rates = new Map(slotRatesOfJobs.map((rate) => [rate.job, rate]))
  return new Map(
    jobs.map((job) => {
      const { waiting, due } = countSlotsOf(done, job, history)
      return [job.name, { waiting, due: due?.slots ?? 0, catch_up: due && catchUpOf(due, rates.get(job.name)) }]
    }),
  )
}
