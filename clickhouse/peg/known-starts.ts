import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { trackStart } from '../chain/batches.js'
import { type CoveredRange, coveredRangesWithin } from '../chain/covered-ranges.js'
import { type DeclaredGap, declaredGaps, merged } from '../chain/gaps.js'
import { defineOptionalRow, defineRow, onlyColumn } from '../store/define-query.js'
import { TRACKS } from './break-detection.js'
import type { PegExcursion } from './breaks.js'
import { DEVIATION } from './sums.js'

/** The first block of a chain that has facts. */
const FIRST_BLOCK = 1

type Span = { from_block: number; to_block: number }

/**
 * The distance from 1, in millionths, of a stable's newest price before a sample and from a block on; null if there is
 * none there. `is_made`: the stable was made in that block or later.
 */
const priceBefore = defineRow({
  name: 'price_before',
  params: z.object({ stable: z.string(), from_block: z.int(), started_block: z.int(), started_at: z.date() }),
  row: z.object({ deviation_micros: z.int().nullable(), is_made: z.boolean().nullable() }),
  sql: `
    SELECT
        (
            SELECT toUInt32(abs(${DEVIATION})) FROM peg_samples
            WHERE stable = {stable: String} AND block_time <= {started_at: DateTime} AND sell_micros IS NOT NULL
              AND block_number >= {from_block: UInt64} AND block_number < {started_block: UInt64}
            ORDER BY peg_samples.stable DESC, block_time DESC, peg_samples.block_number DESC LIMIT 1
        ) AS deviation_micros,
        toBool((SELECT minOrNull(block_number) FROM stablecoins WHERE stable = {stable: String}) >= {from_block: UInt64}) AS is_made`,
})

const blockUntil = defineOptionalRow({
  name: 'block_until',
  params: z.object({ at: z.date() }),
  row: onlyColumn('block_number', z.int()),
  sql: `
    SELECT toUInt32(block_number) AS block_number FROM blocks
    WHERE block_time <= {at: DateTime} ORDER BY blocks.block_number DESC LIMIT 1`,
})

/**
 * The excursions of which it is known that they began with their first sample, and what happened since, up to `at`.
 * That takes a price inside the limits before it, or that no price was before it since the stable was made, and samples of
 * every block from there on. A declared gap counts as read, since nobody will ever know more. The others may have begun earlier, in blocks
 * that are not read, or have been interrupted there.
 */
export async function knownStarts(
  clickhouse: ClickHouseClient,
  excursions: readonly PegExcursion[],
  at: Date,
): Promise<PegExcursion[]> {
  if (excursions.length === 0) return []
  const tipStart = await trackStart(clickhouse, { track: 'tip' })
  // A database without a tip was not filled by ingest.
  if (tipStart === null || tipStart <= FIRST_BLOCK) return [...excursions]
  const everything = { from_block: 0, to_block: Number.MAX_SAFE_INTEGER, by_backfills: true }
  const covered = await coveredRangesWithin(clickhouse, everything)
  const declared = await declaredGaps(clickhouse, {})
  const last = (await blockUntil(clickhouse, { at })) ?? 0
  const known: PegExcursion[] = []
  for (const excursion of excursions) {
    const { stable, started_at, started_block } = excursion
    const span = sampledSpans(stable, { tipStart, covered, declared }).find(
      ({ from_block, to_block }) => from_block <= started_block && started_block <= to_block,
    )
    if (!span || span.to_block < last) continue
    const begun = { stable, from_block: span.from_block, started_block, started_at: new Date(started_at * 1000) }
    const before = await priceBefore(clickhouse, begun)
    const isFirst = span.from_block <= FIRST_BLOCK || before.is_made === true
    const isKnown =
      before.deviation_micros === null ? isFirst : before.deviation_micros <= TRACKS[excursion.severity].allowed_micros
    if (isKnown) known.push(excursion)
  }
  return known
}

/** The ranges of blocks in which a stable was sampled without a hole, or could not be, oldest first. */
function sampledSpans(
  stable: string,
  {
    tipStart,
    covered,
    declared,
  }: { tipStart: number; covered: readonly CoveredRange[]; declared: readonly DeclaredGap[] },
): Span[] {
  return merged([
    ...covered.filter(({ family, stables }) => family === 'pegs' && (stables.length === 0 || stables.includes(stable))),
    ...declared.filter(({ family }) => family === 'pegs'),
    { from_block: tipStart, to_block: Number.MAX_SAFE_INTEGER },
  ])
}
