import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { DELAYS, delayColumns } from '../store/delays.js'
import { insertRows } from '../store/insert.js'

/** Facts that are read together. */
type FamilyTraits = {
  /**
   * `ahead`: of all blocks before the tip begins, because others cannot be decoded without it. `steadily`: of every block
   * from then on, and of those before by backfills. `optionally`: so too, where TRACK_HOLDERS is set.
   */
  isRead: 'ahead' | 'steadily' | 'optionally'
  /** Whether it is read for each stable, so that some stables may be stored and others not. */
  isByStable: boolean
  /** Whether it is read from the state at the end of each block, which nodes drop after a while. */
  needsState: boolean
}

const FAMILY_TRAITS = {
  catalogue: { isRead: 'ahead', isByStable: false, needsState: false },
  logs: { isRead: 'steadily', isByStable: false, needsState: false },
  pegs: { isRead: 'steadily', isByStable: true, needsState: false },
  state: { isRead: 'steadily', isByStable: true, needsState: true },
  transfers: { isRead: 'optionally', isByStable: false, needsState: false },
} as const satisfies Record<string, FamilyTraits>

export type Family = keyof typeof FAMILY_TRAITS

/** The families of facts. */
export const FAMILIES = Object.keys(FAMILY_TRAITS) as readonly Family[]

/** Those of which the facts of a block can be missing although they are wanted. */
export const STEADY_FAMILIES = FAMILIES.filter((family) => FAMILY_TRAITS[family].isRead === 'steadily')

/** Those that a backfill reads. */
export const BACKFILLED_FAMILIES = FAMILIES.filter((family) => FAMILY_TRAITS[family].isRead !== 'ahead')

/** Whether a family is read only where TRACK_HOLDERS is set. */
export const isOptional = (family: Family): boolean => FAMILY_TRAITS[family].isRead === 'optionally'

/** Whether a family is read for each stable, so that some stables may be stored and others not. */
export const isByStable = (family: Family): boolean => FAMILY_TRAITS[family].isByStable

/** Whether a family is read from the state at the end of each block, which nodes drop after a while. */
export const needsState = (family: Family): boolean => FAMILY_TRAITS[family].needsState

/** The track of the process that follows the head of the chain; the others are backfills. */
export const TIP = 'tip'

/**
 * A block range, both ends included, for which ingest writes some families of facts as a unit. Pegs and state are
 * written for `stables` only, or if that is empty, for all stables that are not ingested yet. `sequence_number` counts
 * from 1 in each track.
 */
export type IngestBatch = {
  track: string
  sequence_number: number
  from_block: number
  to_block: number
  last_hash: string
  writer: string
  families: readonly Family[]
  stables: readonly string[]
}

/**
 * Records that a batch is planned. A number can be planned only once: a second plan with the same number, whatever its
 * range, changes nothing, and its writer reads the first one's row.
 */
export function insertPlannedBatch(clickhouse: ClickHouseClient, batch: IngestBatch): Promise<void> {
  return insertRows(
    clickhouse,
    'ingest_batches',
    [{ ...batch, state: 'planned' }],
    `${batch.track}:${batch.sequence_number}`,
  )
}

/** Records that all facts of a batch are stored. Safe to repeat. */
export function insertCommittedBatch(clickhouse: ClickHouseClient, batch: IngestBatch): Promise<void> {
  return insertRows(clickhouse, 'ingest_batches', [{ ...batch, state: 'committed' }], randomUUID())
}

const BatchRow = z.object({
  sequence_number: z.int(),
  from_block: z.int(),
  to_block: z.int(),
  last_hash: z.string(),
  writer: z.string(),
  committed: z.boolean(),
  families: z.array(z.enum(FAMILIES)),
  stables: z.array(z.string()),
})

const BATCHES = `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(any(from_block)) AS from_block, toUInt32(any(to_block)) AS to_block,
           any(last_hash) AS last_hash, anyIf(writer, state = 'planned') AS writer, max(state = 'committed')::Bool AS committed,
           any(families) AS families, any(stables) AS stables
    FROM ingest_batches WHERE track = {track: String}`

// The number is looked for from the end of the track, so that few rows are read however long it is. The engine does so
// only without a condition on the number itself.
const newestWhere = (condition: string) => `${BATCHES}
      AND sequence_number = (
          SELECT sequence_number FROM ingest_batches WHERE track = {track: String} AND ${condition}
          ORDER BY ingest_batches.sequence_number DESC LIMIT 1
      )
    GROUP BY sequence_number`

/** The newest batch of a track, which may only be planned; null if the track has no batch. */
export const newestBatch = defineOptionalRow({
  name: 'newest_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: newestWhere('1'),
})

/**
 * Who else writes: the newest batch of a track with a number from `from` on and the process that planned it, 0 and empty
 * if there is none, and the number of the newest rollback, 0 before the first. One statement, because ingest asks before
 * it writes any batch. Reads only the end of the track.
 */
export const newestPlans = defineRow({
  name: 'newest_plans',
  params: z.object({ track: z.string(), from: z.int() }),
  row: z.object({ sequence_number: z.int(), writer: z.string(), rollback: z.int() }),
  sql: `
    SELECT toUInt32(max(ingest_batches.sequence_number)) AS sequence_number, argMax(ingest_batches.writer, ingest_batches.sequence_number) AS writer,
           toUInt32((SELECT max(ingest_rollbacks.sequence_number) FROM ingest_rollbacks)) AS rollback
    FROM ingest_batches
    WHERE track = {track: String} AND ingest_batches.sequence_number >= {from: UInt64} AND state = 'planned'`,
})

/** The newest batch of a track that was committed, even if a rollback has removed its facts since. */
export const newestCommittedBatch = defineOptionalRow({
  name: 'newest_committed_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: newestWhere("state = 'committed'"),
})

/** The first block that a track has planned; null if the track has no batch. */
export const trackStart = defineOptionalRow({
  name: 'track_start',
  params: z.object({ track: z.string() }),
  row: onlyColumn('first_block', z.int()),
  // The aggregate is kept for each thousand batches.
  sql: `
    SELECT toUInt32(first) AS first_block
    FROM (SELECT track, min(from_block) AS first FROM ingest_batches WHERE track = {track: String} GROUP BY track)`,
})

/**
 * How far the catalogue of the blocks before the tip's first block is read: the last block, and the blocks a second of the
 * last minute before `now`, null if fewer than two batches ended in it. Null before the first batch, and once the tip has begun.
 */
export const catalogueProgress = defineOptionalRow({
  name: 'catalogue_progress',
  params: z.object({ now: z.date() }),
  row: z.object({ block_number: z.int(), blocks_per_second: z.number().nullable() }),
  sql: `
    WITH {now: DateTime64(3)} - INTERVAL 1 MINUTE AS since
    SELECT toUInt32(max(to_block)) AS block_number,
           (block_number - minOrNullIf(to_block, recorded_at >= since))
               / nullIf(dateDiff('millisecond', minOrNullIf(recorded_at, recorded_at >= since), max(recorded_at)) / 1000, 0) AS blocks_per_second
    FROM ingest_batches WHERE track = 'catalogue' AND state = 'committed'
    HAVING count() > 0 AND (SELECT count() FROM (SELECT 1 FROM ingest_batches WHERE track = 'tip' LIMIT 1)) = 0`,
})

/** The inserts into this database that are running, by query id. */
export const runningInserts = defineQuery({
  name: 'running_inserts',
  row: onlyColumn('query_id', z.string()),
  sql: `
    SELECT query_id FROM system.processes
    WHERE query_kind = 'Insert' AND current_database = currentDatabase()`,
})

/**
 * Whether the tip has committed a batch after `since`, and how far it has advanced in chain time since then, in
 * seconds; null if nothing was committed before.
 */
export const ingestProgress = defineRow({
  name: 'ingest_progress',
  params: z.object({ since: z.date() }),
  row: z.object({ has_moved: z.boolean(), gained_seconds: z.int().nullable() }),
  sql: `
    WITH
        (
            SELECT recorded_at FROM ingest_batches WHERE track = 'tip' AND state = 'committed'
            ORDER BY sequence_number DESC LIMIT 1
        ) AS newest_at,
        (
            SELECT to_block FROM ingest_batches
            WHERE track = 'tip' AND state = 'committed' AND recorded_at <= {since: DateTime64(3)}
            ORDER BY sequence_number DESC LIMIT 1
        ) AS block_before,
        (SELECT maxOrNull(block_time) FROM blocks) AS newest,
        (SELECT maxOrNull(block_time) FROM blocks WHERE block_number = block_before) AS before
    SELECT (ifNull(newest_at > {since: DateTime64(3)}, false))::Bool AS has_moved, toInt32(newest - before) AS gained_seconds`,
})

/**
 * For each family of facts, how long after their block time blocks were committed, over the tip's batches of the hour
 * and the day before `now`. Each batch counts with its last block; blocks that were rolled back since do not count. No
 * row for a family without a batch.
 */
export const ingestDelays = defineQuery({
  name: 'ingest_delays',
  params: z.object({ now: z.date() }),
  row: z.object({ family: z.enum(FAMILIES), ...delayColumns }),
  sql: `
    WITH batches AS
    (
        SELECT families, to_block, last_hash, min(recorded_at) AS ended_at
        FROM ingest_batches
        WHERE track = 'tip' AND state = 'committed' AND recorded_at > {now: DateTime64(3)} - INTERVAL 1 DAY
        GROUP BY families, to_block, last_hash
    )
    SELECT family, ${DELAYS}
    FROM
    (
        SELECT arrayJoin(families) AS family, ended_at,
               dateDiff('millisecond', toDateTime64(block_time, 3, 'UTC'), ended_at) / 1000 AS delay
        FROM batches
        INNER JOIN (SELECT block_number, block_hash, block_time FROM blocks WHERE block_number IN (SELECT to_block FROM batches)) AS found
            ON to_block = block_number AND last_hash = block_hash
    )
    GROUP BY family ORDER BY family`,
})
