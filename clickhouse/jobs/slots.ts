import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { TIP } from '../chain/batches.js'
import { wholeSince } from '../chain/history.js'
import { FIRST_BLOCK } from '../chain/missing.js'
import type { SearchedStretch } from '../chain/searched.js'
import { defineOptionalRow, defineRow, onlyColumn, type QuerySignal, type ReadOptions } from '../store/define-query.js'
import { type DoneSlots, doneStretches, undoneStretches } from './done-slots.js'
import type { SlotJob } from './periods.js'

/** Slots of a job between two times, both excluded, in unix seconds. */
type SlotRange = { period_seconds: number; from_time: number; to_time: number }

/**
 * The undone slots of a job in a range, in unix seconds, oldest first: at most `limit`, the oldest ones, or the newest with
 * `newest_first`. `done` must go back to `from_time`.
 */
export function dueSlots(
  done: DoneSlots,
  {
    job,
    limit,
    newest_first = false,
    ...range
  }: SlotRange & { job: string; limit: number; newest_first?: boolean | undefined },
): number[] {
  const { period_seconds } = range
  const undone = undoneStretches(doneOf(done, range, job), range)
  const slots: number[] = []
  for (const { from, until } of newest_first ? undone.toReversed() : undone) {
    const count = Math.min((until - from) / period_seconds, limit - slots.length)
    const first = newest_first ? until - (count - 1) * period_seconds : from + period_seconds
    for (let i = 0; i < count; i++) slots.push(first + i * period_seconds)
  }
  return slots.sort((a, b) => a - b)
}

const doneOf = (
  { runsOf, revisions }: DoneSlots,
  { period_seconds }: Pick<SlotRange, 'period_seconds'>,
  job: string,
): SearchedStretch[] => doneStretches(runsOf(job), revisions, period_seconds)

/**
 * The revision, and from which times slots may lose facts to a rollback that is under way, or have to be done again after a
 * change of history; in unix seconds, null if there is none.
 */
const revisionState = defineRow({
  name: 'revision_state',
  row: z.object({ revision: z.int(), undone_from: z.int().nullable(), changed_from: z.int().nullable() }),
  sql: `
    SELECT toUInt32(maxIf(revision, is_done)) AS revision, toUnixTimestamp(minOrNullIf(kept_time, NOT is_done)) AS undone_from,
           toUnixTimestamp(minOrNullIf(kept_time, NOT is_rollback)) AS changed_from
    FROM history_revisions`,
})

/** The first block of the first batch of the tip; null before it. */
const firstOfTip = defineOptionalRow({
  name: 'first_of_tip',
  row: onlyColumn('from_block', z.int()),
  sql: `SELECT toUInt32(from_block) AS from_block FROM ingest_batches WHERE track = '${TIP}' ORDER BY sequence_number LIMIT 1`,
})

/** What is stored of the chain, and the time of the first block from `tip_start` on; in unix seconds, null before the first block. */
const storedBlocks = defineOptionalRow({
  name: 'stored_blocks',
  params: z.object({ tip_start: z.int() }),
  row: z.object({
    first_time: z.int(),
    newest_time: z.int(),
    tip_time: z.int().nullable(),
    is_whole: z.boolean(),
    has_first: z.boolean(),
  }),
  sql: `
    SELECT toUnixTimestamp(min(block_time)) AS first_time, toUnixTimestamp(max(block_time)) AS newest_time,
           toUnixTimestamp((SELECT block_time FROM blocks WHERE block_number >= {tip_start: UInt64} ORDER BY block_number LIMIT 1)) AS tip_time,
           (count() = max(block_number) - min(block_number) + 1)::Bool AS is_whole, (min(block_number) <= ${FIRST_BLOCK})::Bool AS has_first
    FROM blocks HAVING count() > 0`,
})

/** Between which times slots may be due, and how much of the chain is stored. Times in unix seconds. */
type SlotBounds = {
  /** The start of the tip or of the oldest change of history, whichever is earlier: older blocks are still being backfilled. */
  from_time: number
  /** The newest block; while blocks are being rolled back, the time from which on slots may lose facts. */
  to_time: number
  revision: number
  /** Time of the first block. */
  first_time: number
  /** Whether no block is missing between the first and the newest. */
  is_whole: boolean
  /** Whether the first block is the chain's first. */
  has_first: boolean
}

/**
 * The times between which slots may be due, both excluded; null before the first block. Several blocks may have the same time,
 * so the facts up to a slot are complete only once a later block is ingested. Rejects with QueryError.
 */
export async function slotBounds(clickhouse: ClickHouseClient, options?: ReadOptions): Promise<SlotBounds | null> {
  // Before the blocks: if a rollback comes between, slots are due under the revision before it, and again afterwards.
  const [{ revision, undone_from, changed_from }, tip_start] = await Promise.all([
    revisionState(clickhouse, options),
    firstOfTip(clickhouse, options),
  ])
  const blocks = await storedBlocks(clickhouse, { tip_start: tip_start ?? 0 }, options)
  if (!blocks) return null
  const { first_time, newest_time, tip_time, is_whole, has_first } = blocks
  return {
    from_time: Math.max(first_time, Math.min(tip_time ?? END_OF_TIME, changed_from ?? END_OF_TIME)),
    to_time: Math.min(newest_time, undone_from ?? END_OF_TIME),
    revision,
    first_time,
    is_whole,
    has_first,
  }
}

/** What `slotBounds` has, and since when everything is read up to the newest block: 0 if since the chain's first block. */
export type SlotHistory = SlotBounds & { read_since: number }

/** Between which times slots may be due, and how much history there is; null before the first block. */
export async function slotHistory(
  clickhouse: ClickHouseClient,
  options?: { signal?: QuerySignal },
): Promise<SlotHistory | null> {
  const bounds = await slotBounds(clickhouse, options)
  if (!bounds) return null
  const { is_whole, has_first, first_time, to_time } = bounds
  if (is_whole) return { ...bounds, read_since: has_first ? 0 : first_time }
  return { ...bounds, read_since: (await wholeSince(clickhouse, options)) ?? to_time }
}

/**
 * Why the slots of a job up to some time wait: the history that they need is not read completely, blocks after them are
 * missing, or a backfill that adds blocks has not ended yet.
 */
export const WAIT_REASONS = ['history_not_read', 'blocks_missing', 'backfill_running'] as const
export type WaitReason = (typeof WAIT_REASONS)[number]

/**
 * The time up to which slots of a job are not due, itself included, in unix seconds, and why earlier ones are not.
 * Facts that a backfill will still add could change what they find.
 */
export function waitingUntil(
  { history_seconds = 0 }: Pick<SlotJob, 'history_seconds'>,
  { from_time, read_since }: Pick<SlotHistory, 'from_time' | 'read_since'>,
): { until: number; reason: WaitReason } {
  const neededFrom = read_since === 0 ? 0 : read_since + history_seconds
  if (neededFrom > from_time)
    return { until: neededFrom, reason: history_seconds > 0 ? 'history_not_read' : 'blocks_missing' }
  return { until: from_time, reason: 'backfill_running' }
}

/**
 * How far a job is behind the newest block with slots that do not wait, given how far it is with all, in seconds; null if
 * that is null.
 */
export function dueLag(job: SlotJob, history: SlotHistory | null, lag_seconds: number | null): number | null {
  if (lag_seconds === null || !history) return lag_seconds
  return Math.min(lag_seconds, Math.max(0, history.to_time - waitingUntil(job, history).until))
}

/** The slots that a job could do now: how many, the oldest, and how many are done since the change that made it due. */
export type DueSlots = { slots: number; oldest_at: Date; done: number }

/** Slots that wait: how many, why, and up to which time, itself included. */
export type WaitingSlots = { slots: number; reason: WaitReason; until: Date }

/** How many slots are undone in a range, and the oldest of them in unix seconds; null if none is. */
function undoneIn(done: readonly SearchedStretch[], range: SlotRange) {
  const undone = undoneStretches(done, range)
  const seconds = undone.reduce((sum, { from, until }) => sum + until - from, 0)
  const [first] = undone
  return { slots: seconds / range.period_seconds, oldest_at: first ? first.from + range.period_seconds : null }
}

/**
 * How many slots a job has done since the change of history because of which the slot at `slot_at` has to be done; without such
 * a change, how many it has ever done. A slot that was done repeatedly counts once.
 */
function slotsDoneSince({ runsOf, revisions }: DoneSlots, { name, period_seconds }: SlotJob, slot_at: number): number {
  const began = Math.max(0, ...revisions.flatMap(({ kept_time, revision }) => (kept_time <= slot_at ? [revision] : [])))
  const runs = runsOf(name).filter(({ revision }) => revision >= began)
  const stretches = doneStretches(runs, [], period_seconds)
  return stretches.reduce((sum, { from, until }) => sum + until - from, 0) / period_seconds
}

/**
 * The slots of a job that wait up to the newest block (null if none does), and those that it could do now (null if there are
 * none). After a backfill or a rollback, these are also the ones that have to be done again. `done` must go back to the first block.
 */
export function countSlotsOf(
  done: DoneSlots,
  job: SlotJob,
  history: SlotHistory,
): { waiting: WaitingSlots | null; due: DueSlots | null } {
  const { period_seconds } = job
  const { first_time, from_time, to_time } = history
  const { until, reason } = waitingUntil(job, history)
  const stretches = doneOf(done, job, job.name)
  const waiting = undoneIn(stretches, { period_seconds, from_time: first_time, to_time: Math.min(until + 1, to_time) })
  const due = undoneIn(stretches, { period_seconds, from_time: Math.max(from_time, until), to_time })
  return {
    waiting:
      until > first_time && waiting.slots > 0 ? { slots: waiting.slots, reason, until: new Date(until * 1000) } : null,
    due:
      due.oldest_at === null
        ? null
        : {
            slots: due.slots,
            oldest_at: new Date(due.oldest_at * 1000),
            done: slotsDoneSince(done, job, due.oldest_at),
          },
  }
}
