import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { trackStart } from '../chain/batches.js'
import { blockUntil } from '../chain/blocks.js'
import { type CoveredRange, coveredRangesWithin, merged } from '../chain/covered-ranges.js'
import { type DeclaredGap, declaredGaps } from '../chain/gaps.js'
import { FIRST_BLOCK } from '../chain/missing.js'
import { defineRow } from '../store/define-query.js'
import { DEVIATION } from './sums.js'

type Span = { from_block: number; to_block: number }

const END_OF_CHAIN = Number.MAX_SAFE_INTEGER

const newestPrice = defineRow({
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

/**
 * The distance from 1, in millionths, of a stable's newest price before a sample and from a block on; null if there is none
 * there. `isFirst`: then it never had one, because nothing was before that block.
 */
export async function priceBefore(
  clickhouse: ClickHouseClient,
  { started_at, ...sample }: Begun & { from_block: number },
): Promise<{ deviation_micros: number | null; isFirst: boolean }> {
  const { deviation_micros, is_made } = await newestPrice(clickhouse, {
    ...sample,
    started_at: new Date(started_at * 1000),
  })
  return { deviation_micros, isFirst: sample.from_block <= FIRST_BLOCK || is_made === true }
}

/** What began with a sample of a stable. Its time in unix seconds. */
type Begun = { stable: string; started_at: number; started_block: number }

/** What began with a sample of a stable, as found in the slot that ends `at`. */
export type FoundAt<Found> = { found: Found; at: Date }

/**
 * Those of which it is known that they began with their first sample, and what happened since, up to the end of their slot. That
 * takes samples of every block from before it on, and that `startsInside` holds, given the first of these blocks. A declared gap counts
 * as read, since nobody will ever know more. The others may have begun earlier, in blocks that are not read, or have been
 * interrupted there.
 */
export async function knownStarts<Found extends Begun>(
  clickhouse: ClickHouseClient,
  startedOrEnded: readonly FoundAt<Found>[],
  startsInside: (found: Found, fromBlock: number) => Promise<boolean>,
): Promise<FoundAt<Found>[]> {
  if (startedOrEnded.length === 0) return []
  const tipStart = await trackStart(clickhouse, { track: 'tip' })
  // A database without a tip was not filled by ingest.
  if (tipStart === null || tipStart <= FIRST_BLOCK) return [...startedOrEnded]
  const everything = { from_block: 0, to_block: END_OF_CHAIN, by_backfills: true }
  const covered = await coveredRangesWithin(clickhouse, everything)
  const declared = await declaredGaps(clickhouse, {})
  const isKnown = await Promise.all(
    startedOrEnded.map(async ({ found, at }) => {
      const { stable, started_block } = found
      const span = sampledSpans(stable, { tipStart, covered, declared }).find(
        ({ from_block, to_block }) => from_block <= started_block && started_block <= to_block,
      )
      if (!span) return false
      // Most are sampled up to the newest block.
      if (span.to_block < END_OF_CHAIN && span.to_block < ((await blockUntil(clickhouse, { at })) ?? 0)) return false
      return startsInside(found, span.from_block)
    }),
  )
  return startedOrEnded.filter((_, i) => isKnown[i])
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
    { from_block: tipStart, to_block: END_OF_CHAIN },
  ])
}
