import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { FAMILIES, type Family, STEADY_FAMILIES } from './batches.js'
import { type BlockRange, type CoveredRange, coveredRangesWithin, merged, recorded_by } from './covered-ranges.js'

/** A range of blocks, both ends included, for which a family could not be read, and why. */
export type IngestGap = { family: Family; from_block: number; to_block: number; reason: string }

/** Records gaps. If the same range is recorded with several reasons, the newest counts. */
export const insertIngestGaps = (clickhouse: ClickHouseClient, gaps: readonly IngestGap[]): Promise<void> =>
  insertRows(clickhouse, 'ingest_gaps', gaps, randomUUID())

const DeclaredGap = z.object({
  family: z.enum(FAMILIES),
  from_block: z.int(),
  to_block: z.int(),
  reason: z.string(),
})
export type DeclaredGap = z.infer<typeof DeclaredGap>

/**
 * The ranges of blocks, both ends included, that could not be read, oldest first, with the newest reason. Includes
 * ranges that have been read since; `coveredRanges` has those.
 */
export const declaredGaps = defineQuery({
  name: 'declared_gaps',
  params: z.object({ recorded_by }),
  row: DeclaredGap,
  sql: `
    SELECT family, toUInt32(from_block) AS from_block, toUInt32(to_block) AS to_block, argMax(reason, recorded_at) AS reason
    FROM ingest_gaps WHERE recorded_at <= {recorded_by: DateTime64(3)}
    GROUP BY family, from_block, to_block
    ORDER BY family, from_block, to_block`,
})

/** How many blocks of `gaps` are in none of the `covered` ranges. */
export function missingBlocks(gaps: readonly BlockRange[], covered: readonly BlockRange[]): number {
  const storedRanges = merged(covered)
  let missing = 0
  for (const gap of merged(gaps)) {
    missing += gap.to_block - gap.from_block + 1
    for (const range of storedRanges) {
      const from = Math.max(gap.from_block, range.from_block)
      const to = Math.min(gap.to_block, range.to_block)
      if (from <= to) missing -= to - from + 1
    }
  }
  return missing
}

/**
 * The ranges that close gaps of a family: those covered for every stable, since a range ingested for some stables only is
 * missing for the others. Nothing closes a gap of logs: it means that the flows of logs that are stored have no USD value.
 */
const closedBy = (family: Family, covered: readonly CoveredRange[]): CoveredRange[] =>
  family === 'logs' ? [] : covered.filter((range) => range.family === family && range.stables.length === 0)

/** The declared gaps of which any part is still open, by family, oldest first; adjacent gaps with the same reason are merged. */
export function openGaps(declared: readonly DeclaredGap[], covered: readonly CoveredRange[]): DeclaredGap[] {
  return FAMILIES.flatMap((family) => {
    const closed = merged(closedBy(family, covered))
    const isOpen = ({ from_block, to_block }: BlockRange): boolean =>
      !closed.some((range) => range.from_block <= from_block && range.to_block >= to_block)
    const open = declared.filter((gap) => gap.family === family && isOpen(gap))
    const reasons = [...new Set(open.map(({ reason }) => reason))].sort()
    return reasons
      .flatMap((reason) =>
        merged(open.filter((gap) => gap.reason === reason)).map((gap) => ({ family, ...gap, reason })),
      )
      .sort((a, b) => a.from_block - b.from_block)
  })
}

/** The facts that are missing. */
export type MissingFacts = {
  /** The gaps that are open, as `openGaps` returns them. */
  gaps: DeclaredGap[]
  /** For each family, how many blocks of its declared gaps are still open. */
  families: { family: Family; blocks: number }[]
}

/** The facts that could not be read and that no backfill has filled since. Rejects with QueryError. */
export async function readMissingFacts(
  clickhouse: ClickHouseClient,
  options?: { signal?: QuerySignal },
): Promise<MissingFacts> {
  const declared = await declaredGaps(clickhouse, {}, options)
  const from_block = declared.reduce((first, gap) => Math.min(first, gap.from_block), Number.MAX_SAFE_INTEGER)
  const to_block = declared.reduce((last, gap) => Math.max(last, gap.to_block), 0)
  const covered =
    declared.length === 0
      ? []
      : await coveredRangesWithin(clickhouse, { from_block, to_block, by_backfills: true }, options)
  const missing = (family: Family): number =>
    missingBlocks(
      declared.filter((gap) => gap.family === family),
      closedBy(family, covered),
    )
  return {
    gaps: openGaps(declared, covered),
    families: STEADY_FAMILIES.map((family) => ({ family, blocks: missing(family) })),
  }
}
