import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, defineRow, type QuerySignal } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { FAMILIES, type Family } from './batches.js'
import { coveredRanges } from './covered-ranges.js'
import { type DeclaredGap, declaredGaps } from './gaps.js'
import { DISAGREED_MARK, type DisagreedRange, disagreedRanges } from './quote-checks.js'
import { UNKNOWN_MARK, type UnknownSince, unknownSince } from './unknown-events.js'

/**
 * Blocks of which a family of facts is stored, both ends included, with the times of the first and the last in unix
 * seconds; null if the block itself is not stored. `stables` is empty if it is stored for every stable.
 */
export type StoredRange = {
  family: Family
  stables: readonly string[]
  from_block: number
  to_block: number
  from_time: number | null
  to_time: number | null
}

/** A declared gap, with the times of its first and last block. */
export type TimedGap = DeclaredGap & { from_time: number | null; to_time: number | null }

/** A stretch in which a stable is not sampled, in blocks and unix seconds; its end is excluded, and null while it lasts. */
type UnsampledRange = { from_block: number; to_block: number | null; from: number; to: number | null }

/** All that is stored, and all that is known to be unavailable. Times in unix seconds. */
export type Ledger = {
  /** Disjoint within a family and its stables. */
  ranges: readonly StoredRange[]
  gaps: readonly TimedGap[]
  /** Since when each of the chain's contracts has had events that are not understood. */
  unknown: readonly UnknownSince[]
  /** The blocks whose quotes of the node were not those of the exchange's books. */
  disagreed: readonly DisagreedRange[]
  /** The newest block that ingest may read, as its node last reported it. */
  head: { block_number: number; seen_at: number } | null
  /** Time of the genesis block; null if it is not known. */
  started_at: number | null
  /** What is stored of a range stays as it is until this changes. */
  revision: string
  /** The stretches since its creation in which a stable was not on the list of those that are sampled. */
  unsampled: (stable: string, created: { block_number: number; block_time: number }) => readonly UnsampledRange[]
}

/** The times of blocks in unix seconds, without those that are not stored. */
const blockTimes = defineQuery({
  name: 'block_times',
  params: z.object({ numbers: z.array(z.int()) }),
  row: z.object({ block_number: z.int(), block_time: z.int() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, toUnixTimestamp(block_time) AS block_time
    FROM blocks WHERE blocks.block_number IN {numbers: Array(UInt64)}`,
})

const count = z.int().nonnegative()

/** How far the ledger is known: the newest committed batch of each track, and what the rest depends on. */
const Marks = z.object({
  tip: count,
  backfill: count,
  catalogue: count,
  others: count,
  rollback: count,
  gaps: z.string(),
  unknown: z.string(),
  disagreed: z.string(),
})
export type Marks = z.infer<typeof Marks>

/** The marks of everything that is stored. */
const ledgerMarks = defineRow({
  name: 'ledger_marks',
  row: Marks.extend({ started_at: z.int().nullable() }),
  sql: `
    SELECT toUInt32(maxIf(sequence_number, track = 'tip')) AS tip, toUInt32(maxIf(sequence_number, track = 'backfill')) AS backfill,
           toUInt32(maxIf(sequence_number, track = 'catalogue')) AS catalogue,
           toUInt32(maxIf(sequence_number, track NOT IN ('tip', 'backfill', 'catalogue'))) AS others,
           (SELECT toUInt32(max(sequence_number)) FROM ingest_rollbacks) AS rollback,
           (SELECT toString(max(recorded_at)) FROM ingest_gaps) AS gaps,
           (${UNKNOWN_MARK}) AS unknown, (${DISAGREED_MARK}) AS disagreed,
           (SELECT toUnixTimestamp(minOrNull(block_time)) FROM stablecoins WHERE block_number = 0) AS started_at
    FROM (SELECT track, max(sequence_number) AS sequence_number FROM ingest_batches WHERE state = 'committed' GROUP BY track)`,
})

/**
 * One row for each batch that was committed after the marks, and one each for the newest rollback, the newest gap, the
 * unknown events, the disagreements, the number of books and the head. Plain rows one after another: this is read more often than anything else, and joining or
 * grouping them would take longer to plan than to read them.
 */
const changesSince = defineQuery({
  name: 'ledger_changes',
  params: Marks.pick({ tip: true, backfill: true, catalogue: true, others: true }),
  row: z.object({
    what: z.enum(['batch', 'rollback', 'gaps', 'unknown', 'disagreed', 'books', 'head']),
    track: z.string(),
    sequence_number: z.int(),
    from_block: z.int(),
    to_block: z.int(),
    families: z.array(z.enum(FAMILIES)),
    stables: z.array(z.string()),
    recorded: z.string(),
    seen_at: z.number(),
  }),
  sql: `
    SELECT 'batch' AS what, toString(track) AS track, toUInt32(sequence_number) AS sequence_number, toUInt32(from_block) AS from_block,
           toUInt32(to_block) AS to_block, CAST(families, 'Array(String)') AS families, stables, '' AS recorded, toFloat64(0) AS seen_at
    FROM ingest_batches
    WHERE state = 'committed'
      AND ((ingest_batches.track = 'tip' AND ingest_batches.sequence_number > {tip: UInt64})
        OR (ingest_batches.track = 'backfill' AND ingest_batches.sequence_number > {backfill: UInt64})
        OR (ingest_batches.track = 'catalogue' AND ingest_batches.sequence_number > {catalogue: UInt64})
        OR (ingest_batches.track NOT IN ('tip', 'backfill', 'catalogue') AND ingest_batches.sequence_number > {others: UInt64}))
    UNION ALL
    SELECT 'rollback', '', toUInt32(max(sequence_number)), 0, 0, [], [], '', 0 FROM ingest_rollbacks
    UNION ALL
    SELECT 'gaps', '', 0, 0, 0, [], [], toString(max(recorded_at)), 0 FROM ingest_gaps
    UNION ALL
    SELECT 'unknown', '', 0, 0, 0, [], [], (${UNKNOWN_MARK}), 0
    UNION ALL
    SELECT 'disagreed', '', 0, 0, 0, [], [], (${DISAGREED_MARK}), 0
    UNION ALL
    SELECT 'books', '', toUInt32(count()), 0, 0, [], [], '', 0 FROM dex_pairs
    UNION ALL
    SELECT 'head', '', 0, 0, toUInt32(block_number), [], [], '', toFloat64(chain_heads.seen_at)
    FROM (SELECT block_number, seen_at FROM chain_heads ORDER BY seen_at DESC LIMIT 1) AS chain_heads`,
})

type Blocks = { from_block: number; to_block: number }

/** A function that adds the times of the first and the last block to each of these ranges; null for one that is not stored. */
async function timesOf(clickhouse: ClickHouseClient, ranges: readonly Blocks[], options?: { signal?: QuerySignal }) {
  const numbers = [...new Set(ranges.flatMap(({ from_block, to_block }) => [from_block, to_block]))]
  const rows = await inParts(numbers, (part) => blockTimes(clickhouse, { numbers: part }, options))
  const times = new Map(rows.map(({ block_number, block_time }) => [block_number, block_time]))
  return <Range extends Blocks>(range: Range) => ({
    ...range,
    from_time: times.get(range.from_block) ?? null,
    to_time: times.get(range.to_block) ?? null,
  })
}

/**
 * What was committed after the marks, with the times of the batches' first and last blocks; the head; the number of books
 * on the exchange, which may decide who is sampled; and the marks that make it necessary to read everything again when they
 * change. Reads a few rows, whatever the length of history: in one statement, and in a second one if there are batches.
 */
export async function ledgerChanges(
  clickhouse: ClickHouseClient,
  marks: Omit<Marks, 'rollback' | 'gaps' | 'unknown' | 'disagreed'>,
  options?: { signal?: QuerySignal },
) {
  const rows = await changesSince(clickhouse, marks, options)
  const batches = rows.filter(({ what }) => what === 'batch')
  const rowOf = (name: Exclude<(typeof rows)[number]['what'], 'batch'>) => rows.find(({ what }) => what === name)
  const head = rowOf('head')
  return {
    batches: batches.length === 0 ? [] : batches.map(await timesOf(clickhouse, batches, options)),
    rollback: rowOf('rollback')?.sequence_number ?? 0,
    gaps: rowOf('gaps')?.recorded ?? '',
    unknown: rowOf('unknown')?.recorded ?? '',
    disagreed: rowOf('disagreed')?.recorded ?? '',
    books: rowOf('books')?.sequence_number ?? 0,
    head: head ? { block_number: head.to_block, seen_at: head.seen_at } : null,
  }
}

/** What is stored by now, in two statements. */
export async function storedRanges(clickhouse: ClickHouseClient): Promise<StoredRange[]> {
  const ranges = await coveredRanges(clickhouse)
  return ranges.map(await timesOf(clickhouse, ranges))
}

/**
 * The whole ledger without its head and the lists of stables, and the marks from which `ledgerChanges` continues; with `recorded_by`, the ledger
 * as it was then. Rejects with QueryError.
 */
export async function readLedger(
  clickhouse: ClickHouseClient,
  params: { recorded_by?: Date },
  options?: { signal?: QuerySignal },
): Promise<{ ledger: Omit<Ledger, 'unsampled'>; marks: Marks }> {
  // Before the ranges: what is committed meanwhile is read twice, which changes nothing.
  const { started_at, ...marks } = await ledgerMarks(clickhouse, options)
  const [ranges, gaps, unknown, disagreed] = await Promise.all([
    coveredRanges(clickhouse, params, options),
    declaredGaps(clickhouse, params, options),
    unknownSince(clickhouse, options),
    disagreedRanges(clickhouse, options),
  ])
  const timed = await timesOf(clickhouse, [...ranges, ...gaps], options)
  const revision = `${marks.rollback} ${marks.gaps}`
  return {
    ledger: { ranges: ranges.map(timed), gaps: gaps.map(timed), unknown, disagreed, head: null, started_at, revision },
    marks,
  }
}
