import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { FAMILIES, needsState, TIP } from './batches.js'

/** Later rows of the ledger are ignored; by default, none are. */
export const recorded_by = z.date().default(new Date(END_OF_TIME * 1000))

const CoveredRange = z.object({
  family: z.enum(FAMILIES),
  stables: z.array(z.string()),
  from_block: z.int(),
  to_block: z.int(),
})
export type CoveredRange = z.infer<typeof CoveredRange>

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

/**
 * For each track, thousand of sequence numbers, families and stables, the range of the committed batches of which some may be in
 * a range of blocks and some had been recorded by `recorded_by`. `is_filled`: they all had, and they fill it without a gap, an
 * overlap or a repetition. The hashes of all ends but the first and the last cancel out only then. The engine keeps this beside
 * the rows, as long as it is asked for in these words (projection `thousands`).
 */
const thousandsWithin = defineQuery({
  name: 'coverage',
  params: z.object({ from_block: z.int(), to_block: z.int(), recorded_by }),
  row: z.object({
    ...Batches,
    thousand: z.int(),
    first_number: z.int(),
    last_number: z.int(),
    is_filled: z.boolean(),
  }),
  sql: `
    SELECT toString(track) AS track, toUInt32(intDiv(sequence_number, 1000)) AS thousand, CAST(families, 'Array(String)') AS families, stables,
           toUInt32(min(sequence_number)) AS first_number, toUInt32(max(sequence_number)) AS last_number,
           toUInt32(min(from_block)) AS first_block, toUInt32(max(to_block)) AS last_block,
           (sum(cityHash64(to_block + 1) - cityHash64(from_block)) = cityHash64(max(to_block) + 1) - cityHash64(min(from_block))
             AND max(recorded_at) <= {recorded_by: DateTime64(3)})::Bool AS is_filled
    FROM ingest_batches WHERE state = 'committed'
    GROUP BY ingest_batches.track, intDiv(sequence_number, 1000), ingest_batches.families, ingest_batches.stables
    HAVING min(recorded_at) <= {recorded_by: DateTime64(3)} AND max(to_block) >= {from_block: UInt64} AND min(from_block) <= {to_block: UInt64}`,
})

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
  const groups = new Map<string, CoveredRange[]>()
  for (const { track, families, stables, last_number, first_block, last_block } of batches) {
    const kept = rollbacks.flatMap(({ after_sequence, kept_block }) =>
      after_sequence >= last_number ? kept_block : [],
    )
    const to_block = track === TIP ? Math.min(last_block, ...kept) : last_block
    if (to_block < first_block) continue
    for (const family of families) {
      const ofStables = needsState(family) ? stables.toSorted() : []
      const key = `${family} ${ofStables.join()}`
      const ranges = groups.get(key) ?? []
      groups.set(key, ranges)
      ranges.push({ family, stables: ofStables, from_block: first_block, to_block })
    }
  }
  const whole = [...groups.values()].flatMap(joinedRanges)
  return whole.sort(
    (a, b) => compare(a.family, b.family) || a.from_block - b.from_block || compare(a.stables.join(), b.stables.join()),
  )
}

/** The ranges of one family and its stables in order; adjacent and overlapping ones become one. */
function joinedRanges(ranges: readonly CoveredRange[]): CoveredRange[] {
  const joined: CoveredRange[] = []
  for (const range of ranges.toSorted((a, b) => a.from_block - b.from_block)) {
    const last = joined.at(-1)
    if (last && range.from_block <= last.to_block + 1) last.to_block = Math.max(last.to_block, range.to_block)
    else joined.push({ ...range })
  }
  return joined
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The ranges of `coveredRanges`, but may leave out batches that contain none of the blocks from `from_block` to
 * `to_block`. With `by_backfills` it leaves out the batches of the tip. Reads a row for each thousand batches, and the
 * batches themselves only where they do not follow each other, or where some were recorded or rolled back later.
 */
export async function coveredRangesWithin(
  clickhouse: ClickHouseClient,
  {
    by_backfills = false,
    ...range
  }: { from_block: number; to_block: number; by_backfills?: boolean; recorded_by?: Date | undefined },
  options?: { signal?: QuerySignal },
): Promise<CoveredRange[]> {
  const [rollbacks, stored] = await Promise.all([
    rollbacksAt(clickhouse, { recorded_by: range.recorded_by }, options),
    thousandsWithin(clickhouse, range, options),
  ])
  const thousands = stored.filter(({ track }) => track !== TIP || !by_backfills)
  const isWhole = ({ track, first_number, last_number, is_filled }: (typeof thousands)[number]): boolean =>
    is_filled &&
    !(
      track === TIP &&
      rollbacks.some(({ after_sequence }) => after_sequence >= first_number && after_sequence < last_number)
    )
  const parts = thousands.filter((thousand) => !isWhole(thousand))
  const [tracks, numbers] = [parts.map(({ track }) => track), parts.map(({ thousand }) => thousand)]
  const single =
    parts.length === 0 ? [] : await batchesOf(clickhouse, { ...range, tracks, thousands: numbers }, options)
  // A thousand of which one group is read batch by batch is read so in all of its groups.
  const isRead = (group: { track: string; thousand: number }): boolean =>
    parts.some(({ track, thousand }) => track === group.track && thousand === group.thousand)
  return rangesOf([...thousands.filter((thousand) => !isRead(thousand)), ...single], rollbacks)
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
