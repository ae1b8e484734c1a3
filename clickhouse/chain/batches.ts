import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { DELAYS, delayColumns } from '../store/delays.js'
import { insertRows } from '../store/insert.js'

/** Facts that are read together. The catalogue is what the others need to be understood. */
export const FAMILIES = ['catalogue', 'logs', 'pegs', 'state'] as const

export type Family = (typeof FAMILIES)[number]

/**
 * A block range, both ends included, of which ingest takes in some families of facts as a whole. Pegs and state of
 * `stables` only, or where that is empty, of all that are not in yet. `sequence_number` counts from 1 in each track.
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
 * Records that a batch is planned. A number is planned once only: a second plan of the same number, whatever its
 * range, changes nothing, and its author finds the first one's row.
 */
export function insertPlannedBatch(clickhouse: ClickHouseClient, batch: IngestBatch): Promise<void> {
  return insertRows(
    clickhouse,
    'ingest_batches',
    [{ ...batch, state: 'planned' }],
    `${batch.track}:${batch.sequence_number}`,
  )
}

/** Records that all facts of a batch are in. Doing so twice means the same as once. */
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

const newestWhere = (condition: string) => `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(any(from_block)) AS from_block, toUInt32(any(to_block)) AS to_block,
           any(last_hash) AS last_hash, anyIf(writer, state = 'planned') AS writer, max(state = 'committed')::Bool AS committed,
           any(families) AS families, any(stables) AS stables
    FROM ingest_batches
    WHERE track = {track: String}
      AND sequence_number = (SELECT max(sequence_number) FROM ingest_batches WHERE track = {track: String} AND ${condition})
    GROUP BY sequence_number`

/** The newest batch of a track, which may be planned only; null for a track that never began. */
export const newestBatch = defineOptionalRow({
  name: 'newest_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: newestWhere('1'),
})

/** The newest batch of a track whose facts were all in, though a rollback may have removed them. */
export const newestCommittedBatch = defineOptionalRow({
  name: 'newest_committed_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: newestWhere("state = 'committed'"),
})

/** The first block that a track has planned; null for a track that never began. */
export const trackStart = defineOptionalRow({
  name: 'track_start',
  params: z.object({ track: z.string() }),
  row: onlyColumn('first_block', z.int()),
  sql: `
    SELECT toUInt32(min(from_block)) AS first_block
    FROM ingest_batches WHERE track = {track: String}
    HAVING count() > 0`,
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
 * Whether the tip has got anything in after `since`, and how much time of the chain that was, in seconds; null where
 * nothing was in before.
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

/** More batches than the tip can write in a day, at one a second. */
const BATCHES = 100_000

/**
 * For each family of facts, how long after their time blocks were in, over what the tip has committed in the hour and
 * the day before `now`: of each batch its last block. A block that was rolled back since does not count. No row where
 * nothing was committed.
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
          AND sequence_number + ${BATCHES} >
              (SELECT sequence_number FROM ingest_batches WHERE track = 'tip' ORDER BY sequence_number DESC LIMIT 1)
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
