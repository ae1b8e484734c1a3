import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { FAMILIES, isByStable, TIP } from './batches.js'

/** Later rows of the ledger are ignored; by default, none are. */
export const recorded_by = z.date().default(new Date(END_OF_TIME * 1000))

const CoveredRange = z.object({
  family: z.enum(FAMILIES),
  stables: z.array(z.string()),
  from_block: z.int(),
  to_block: z.int(),
})
export type CoveredRange = z.infer<typeof CoveredRange>

/** Both ends included. */
export type BlockRange = { from_block: number; to_block: number }

/** The ranges in order, with adjacent and overlapping ones merged. */
export function merged(ranges: readonly BlockRange[]): BlockRange[] {
  const whole: BlockRange[] = []
  for (const { from_block, to_block } of ranges.toSorted((a, b) => a.from_block - b.from_block)) {
    const last = whole.at(-1)
    if (last && from_block <= last.to_block + 1) last.to_block = Math.max(last.to_block, to_block)
    else whole.push({ from_block, to_block })
  }
  return whole
}

/** A rollback of the tip: of the batches up to `after_sequence`, no block after `kept_block` is left. */
export type RolledBack = { after_sequence: number; kept_block: number }

/** Rollbacks that were recorded by an instant. */
const rollbacksAt = defineQuery({
  name: 'coverage_rollbacks',
  params: z.object({ recorded_by }),
  row: z.object({ after_sequence: z.int(), kept_block: z.int() }),
  sql: `
    SELECT DISTINCT toUInt32(after_sequence) AS after_sequence, toUInt32(kept_block) AS kept_block
    FROM ingest_rollbacks WHERE recorded_at <= {recorded_by: DateTime64(3)}`,
})

const Batches = {
  track: z.string(),
  families: z.array(z.enum(FAMILIES)),
  stables: z.array(z.string()),
  first_block: z.int(),
  last_block: z.int(),
}

/** How many thousands of batches are added up first, and how many only where those do not follow each other. */
const [MANY_THOUSANDS, ONE_THOUSAND] = [1000, 1]

/**
 * For each track, so many thousands of sequence numbers, families and stables, the range of the committed batches of which some may
 * be in a range of blocks and some had been recorded by `recorded_by`. `is_filled`: they all had, and they fill it without a gap,
 * an overlap or a repetition. The hashes of all ends but the first and the last cancel out only then. The engine keeps this beside
 * the rows by thousands, as long as it is asked for in these words (projection `thousands`). Of some groups of many thousands, or
 * of all if `groups` is empty.
 */
const groupsWithin = defineQuery({
  name: 'coverage',
  params: z.object({
    thousands: z.int().positive(),
    tracks: z.array(z.string()),
    groups: z.array(z.int()),
    from_block: z.int(),
    to_block: z.int(),
    by_backfills: z.boolean(),
    recorded_by,
  }),
  row: z.object({
    ...Batches,
    group: z.int(),
    first_number: z.int(),
    last_number: z.int(),
    is_filled: z.boolean(),
  }),
  sql: `
    SELECT toString(track) AS track, toUInt32(intDiv(intDiv(sequence_number, 1000), {thousands: UInt32})) AS group,
           CAST(families, 'Array(String)') AS families, stables,
           toUInt32(min(sequence_number)) AS first_number, toUInt32(max(sequence_number)) AS last_number,
           toUInt32(min(from_block)) AS first_block, toUInt32(max(to_block)) AS last_block,
           (sum(cityHash64(to_block + 1) - cityHash64(from_block)) = cityHash64(max(to_block) + 1) - cityHash64(min(from_block))
             AND max(recorded_at) <= {recorded_by: DateTime64(3)})::Bool AS is_filled
    FROM ingest_batches
    WHERE state = 'committed' AND (ingest_batches.track != '${TIP}' OR NOT {by_backfills: Bool})
      AND (empty({groups: Array(UInt64)}) OR
           (toString(ingest_batches.track), intDiv(intDiv(sequence_number, 1000), ${MANY_THOUSANDS})) IN arrayZip({tracks: Array(String)}, {groups: Array(UInt64)}))
    GROUP BY ingest_batches.track, intDiv(intDiv(sequence_number, 1000), {thousands: UInt32}), ingest_batches.families, ingest_batches.stables
    HAVING min(recorded_at) <= {recorded_by: DateTime64(3)} AND max(to_block) >= {from_block: UInt64} AND min(from_block) <= {to_block: UInt64}`,
})
type BatchGroup = CommittedBatches & { group: number; first_number: number; is_filled: boolean }

/** The committed batches of some thousands of a track, one by one. */
const batchesOf = defineQuery({
  name: 'coverage_batches',
  params: z.object({
    tracks: z.array(z.string()),
    thousands: z.array(z.int()),
    from_block: z.int(),
    to_block: z.int(),
    recorded_by,
  }),
  row: z.object({ ...Batches, last_number: z.int() }),
  sql: `
    SELECT toString(track) AS track, CAST(families, 'Array(String)') AS families, stables, toUInt32(sequence_number) AS last_number,
           toUInt32(from_block) AS first_block, toUInt32(to_block) AS last_block
    FROM ingest_batches
    WHERE state = 'committed' AND recorded_at <= {recorded_by: DateTime64(3)}
      AND (toString(ingest_batches.track), intDiv(sequence_number, 1000)) IN arrayZip({tracks: Array(String)}, {thousands: Array(UInt64)})
      AND to_block >= {from_block: UInt64} AND from_block <= {to_block: UInt64}`,
})

/** A batch, or batches that follow each other, the last of which has `last_number`. Both blocks are included. */
export type CommittedBatches = z.infer<z.ZodObject<typeof Batches>> & { last_number: number }

/** What is left of the blocks of batches after rollbacks, by family and stables; adjacent ranges are merged. */
export function rangesOf(batches: readonly CommittedBatches[], rollbacks: readonly RolledBack[]): CoveredRange[] {
  const groups = new Map<string, Pick<CoveredRange, 'family' | 'stables'> & { ranges: BlockRange[] }>()
  for (const { track, families, stables, last_number, first_block, last_block } of batches) {
    const kept = rollbacks.flatMap(({ after_sequence, kept_block }) =>
      after_sequence >= last_number ? kept_block : [],
    )
    const to_block = track === TIP ? Math.min(last_block, ...kept) : last_block
    if (to_block < first_block) continue
    for (const family of families) {
      const ofStables = isByStable(family) ? stables.toSorted() : []
      const key = `${family} ${ofStables.join()}`
      const group = groups.get(key) ?? { family, stables: ofStables, ranges: [] }
      groups.set(key, group)
      group.ranges.push({ from_block: first_block, to_block })
    }
  }
  const covered = [...groups.values()].flatMap(({ ranges, ...of }) =>
    merged(ranges).map((range) => ({ ...of, ...range })),
  )
  return covered.sort(
    (a, b) => compare(a.family, b.family) || a.from_block - b.from_block || compare(a.stables.join(), b.stables.join()),
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Whether batches are covered as one range: without a gap, and without one that a rollback removed or kept in part. */
const isWhole =
  (rollbacks: readonly RolledBack[]) =>
  ({ track, first_number, last_number, is_filled }: BatchGroup): boolean =>
    is_filled &&
    !(
      track === TIP &&
      rollbacks.some(({ after_sequence }) => after_sequence >= first_number && after_sequence < last_number)
    )

/** The groups all of whose batches are covered as one range, and the places of the others, of which another part is not either. */
function partsOf(groups: readonly BatchGroup[], rollbacks: readonly RolledBack[]) {
  const placeOf = ({ track, group }: BatchGroup): string => `${group} ${track}`
  const parts = groups.filter((group) => !isWhole(rollbacks)(group))
  const places = new Set(parts.map(placeOf))
  return {
    whole: groups.filter((group) => !places.has(placeOf(group))),
    tracks: parts.map(({ track }) => track),
    groups: parts.map(({ group }) => group),
  }
}

/**
 * The ranges of `coveredRanges`, but may leave out batches that contain none of the blocks from `from_block` to
 * `to_block`. With `by_backfills` it leaves out the batches of the tip. Reads a row for each million batches, for each thousand
 * of a million, and the batches of a thousand, only where they do not follow each other, or where some were recorded or rolled
 * back later.
 */
export async function coveredRangesWithin(
  clickhouse: ClickHouseClient,
  {
    by_backfills = false,
    ...range
  }: { from_block: number; to_block: number; by_backfills?: boolean; recorded_by?: Date | undefined },
  options?: { signal?: QuerySignal },
): Promise<CoveredRange[]> {
  const groupsOf = (thousands: number, places: { tracks: string[]; groups: number[] }) =>
    groupsWithin(clickhouse, { ...range, ...places, thousands, by_backfills }, options)
  const [rollbacks, all] = await Promise.all([
    rollbacksAt(clickhouse, { recorded_by: range.recorded_by }, options),
    groupsOf(MANY_THOUSANDS, { tracks: [], groups: [] }),
  ])
  const millions = partsOf(all, rollbacks)
  if (millions.groups.length === 0) return rangesOf(all, rollbacks)
  const thousands = partsOf(await groupsOf(ONE_THOUSAND, millions), rollbacks)
  const { tracks, groups } = thousands
  const batches =
    groups.length === 0 ? [] : await batchesOf(clickhouse, { ...range, tracks, thousands: groups }, options)
  return rangesOf([...millions.whole, ...thousands.whole, ...batches], rollbacks)
}

/**
 * The ingested ranges of blocks, both ends included, by family, oldest first; adjacent ranges are merged. `stables` is
 * empty if the range is ingested for every stable. Blocks that a rollback removed do not count.
 */
export const coveredRanges = (
  clickhouse: ClickHouseClient,
  params: { recorded_by?: Date | undefined } = {},
  options?: { signal?: QuerySignal },
): Promise<CoveredRange[]> =>
  coveredRangesWithin(clickhouse, { from_block: 0, to_block: Number.MAX_SAFE_INTEGER, ...params }, options)
