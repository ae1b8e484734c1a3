import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { Direction, Severity, Track } from './break-filter.js'
import type { FoundDeviation } from './hysteresis.js'

/** An excursion from the peg as known at one slot; the columns are described in clickhouse/schema. Times in unix seconds. */
export const PegExcursion = z.object({
  stable: z.string(),
  severity: Severity,
  started_at: z.int(),
  started_block: z.int(),
  direction: Direction,
  confirmed_at: z.int().nullable(),
  ended_at: z.int().nullable(),
  ended_block: z.int().nullable(),
  max_deviation_micros: z.int(),
  /** For how many tokens it stood when it was confirmed; null where that was not measured, and before. */
  standing_tokens: z.int().nullable(),
})
export type PegExcursion = z.infer<typeof PegExcursion>

/** What identifies an excursion on its track. */
export type ExcursionKey = Pick<PegExcursion, 'stable' | 'severity' | 'started_at' | 'started_block'>

export const excursionKey = ({ stable, severity, started_at, started_block }: ExcursionKey): string =>
  `${stable} ${severity} ${started_at} ${started_block}`

/** A break that a finder has found, as it is stored. */
export const excursionOf = ({
  kind: _,
  seen: __,
  max_deviation_bps,
  ...lasting
}: FoundDeviation & Pick<PegExcursion, 'stable' | 'severity'>): PegExcursion & { confirmed_at: number } => ({
  ...lasting,
  max_deviation_micros: Math.round(max_deviation_bps * 100),
  standing_tokens: null,
})

/**
 * A subquery for the excursions that any slot from `instant` on has written on a track; both are expressions. They include
 * all that were in progress then, because every slot writes those. The cost does not grow with the number of earlier
 * excursions. The statement must end with BREAKS_SINCE_SETTINGS.
 */
export const breaksSince = (instant: string, track = '{track: String}'): string => `
  SELECT * FROM peg_breaks FINAL
  WHERE track = ${track} AND (stable, severity, started_at, started_block) IN
        (SELECT stable, severity, started_at, started_block FROM peg_breaks WHERE track = ${track} AND slot_at >= ${instant})`

/**
 * For statements with `breaksSince`. The skip index finds only keys: applied to the rows as well, it might skip a newer row
 * of a key, and FINAL would then return an older one.
 */
export const BREAKS_SINCE_SETTINGS = 'SETTINGS use_skip_indexes_if_final = 0'

/** SQL: the columns of `PegExcursion`. */
export const EXCURSION_COLUMNS = `
  stable, severity, toUnixTimestamp(started_at) AS started_at, toUInt32(started_block) AS started_block, direction,
  toUnixTimestamp(confirmed_at) AS confirmed_at, toUnixTimestamp(ended_at) AS ended_at,
  toUInt32(ended_block) AS ended_block, max_deviation_micros, standing_tokens`

/** The excursions of a track whose row is from a slot after `after` and a revision before `revision`. */
const outdatedExcursions = defineQuery({
  name: 'outdated_peg_breaks',
  params: z.object({ track: Track, revision: z.int(), after: z.date() }),
  row: PegExcursion,
  sql: `
    SELECT ${EXCURSION_COLUMNS}
    FROM (${breaksSince('{after: DateTime}')})
    WHERE revision < {revision: UInt32} AND slot_at > {after: DateTime}
    ORDER BY stable, severity, started_at, started_block
    ${BREAKS_SINCE_SETTINGS}`,
})

type ExcursionRow = PegExcursion & { revision: number; slot_at: number; is_deleted: 0 | 1 }

/**
 * Writes excursions of a track as slots knew them. A row replaces the rows of the same excursion from older slots or
 * revisions. A repeat replaces the rows with the same: it has a token of its own, because an engine that is killed between a
 * token and its rows would take the repeat for a duplicate.
 */
export function insertExcursions(
  clickhouse: ClickHouseClient,
  track: Track,
  rows: readonly ExcursionRow[],
): Promise<void> {
  return insertRows(
    clickhouse,
    'peg_breaks',
    rows.map((row) => ({ track, ...row })),
    randomUUID(),
  )
}

/**
 * Stores what the last of consecutive slots that has seen an excursion knows of it. Deletes what earlier revisions have found
 * after `after`, the time after which the samples of the first slot begin, and what is not found again: it may be based on
 * blocks that were rolled back, or lack blocks that a backfill has added.
 */
export async function storeExcursions(
  clickhouse: ClickHouseClient,
  slots: readonly { at: Date; excursions: readonly PegExcursion[] }[],
  { track, revision, after }: { track: Track; revision: number; after: Date },
): Promise<void> {
  const newest = new Map<string, PegExcursion & { slot_at: number; is_deleted: 0 }>()
  for (const { at, excursions } of slots)
    for (const excursion of excursions)
      newest.set(excursionKey(excursion), { ...excursion, slot_at: at.getTime() / 1000, is_deleted: 0 })
  const outdated = await outdatedExcursions(clickhouse, { track, revision, after })
  const deleted = outdated
    .filter((excursion) => !newest.has(excursionKey(excursion)))
    .map((excursion) => ({ ...excursion, slot_at: after.getTime() / 1000, is_deleted: 1 as const }))
  const rows = [...deleted, ...newest.values()].map((row) => ({ ...row, revision }))
  await insertExcursions(clickhouse, track, rows)
}
