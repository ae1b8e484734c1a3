import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { type Direction, Severity } from './break-filter.js'
import { DEPTH_SIZES, ONE_TOKEN, QuoteStatus } from './price.js'

/** A break that does not stand for this many tokens is thin: it is one of a few bids, not of the book. */
const THIN_BELOW_TOKENS = 10_000

/** Whether the book contradicts a break that stands for so many tokens; null if that was not measured. */
export const isThin = (standing_tokens: number | null): boolean | null =>
  standing_tokens === null ? null : standing_tokens < THIN_BELOW_TOKENS

const SoldSize = z.object({ size_tokens: z.int(), sell_status: QuoteStatus, sell_raw: integerText.nullable() })
/** What a size sells for, in base units of the reference stable; null without a quote. */
export type SoldSize = z.infer<typeof SoldSize>

/** The side of the peg and the distance from 1, in millionths, beyond which a break is. */
type Limit = { direction: Direction; allowed_micros: number }

/**
 * The largest of the sampled sizes, smallest first, up to which each sells beyond the limit; 0 if the smallest one does not.
 * A size that nobody buys sells for nothing. Null if nothing was sampled, or if it is not known what one of these sizes, or the
 * one after them, sells for. In integers, so that a price at the limit is inside.
 */
export function standingTokens(sizes: readonly SoldSize[], { direction, allowed_micros }: Limit): number | null {
  if (sizes.length === 0) return null
  let standing_tokens = 0
  for (const { size_tokens, sell_status, sell_raw } of sizes) {
    if (sell_raw === null && sell_status !== 'no_liquidity') return null
    const size = BigInt(size_tokens)
    const above = BigInt(sell_raw ?? 0) - size * ONE_TOKEN
    const beyond = direction === 'above' ? above : -above
    if (beyond <= BigInt(allowed_micros) * size) break
    standing_tokens = size_tokens
  }
  return standing_tokens
}

/** Smallest size first. */
const sizesWithin = defineQuery({
  name: 'sizes_within',
  params: z.object({
    stable: z.string(),
    started_at: z.date(),
    started_block: z.int(),
    to: z.date(),
    ended_block: z.int().nullable(),
  }),
  row: SoldSize,
  sql: `
    WITH (SELECT (block_time, block_number) FROM depth_samples
          WHERE stable = {stable: String} AND size_tokens = ${DEPTH_SIZES[0]} AND block_time >= {started_at: DateTime} AND block_time <= {to: DateTime}
            AND block_number >= {started_block: UInt64} AND block_number < ifNull({ended_block: Nullable(UInt64)}, 0xffffffffffffffff)
          ORDER BY depth_samples.block_time DESC, depth_samples.block_number DESC LIMIT 1) AS newest
    SELECT size_tokens, sell_status, sell_raw FROM depth_samples
    WHERE stable = {stable: String} AND block_time = newest.1 AND block_number = newest.2
    ORDER BY size_tokens`,
})

/**
 * The breaks that were confirmed by slots from before this was stored, and that no slot has found again since. Those slots are the
 * ones that ran before migration 45.
 */
export const breaksWithoutStanding = defineQuery({
  name: 'breaks_without_standing',
  row: z.object({ stable: z.string(), severity: Severity, started_block: z.int() }),
  sql: `
    SELECT stable, severity, toUInt32(started_block) AS started_block FROM peg_events FINAL
    WHERE standing_tokens IS NULL AND confirmed_at <=
      (
          SELECT max(slot_at) FROM job_runs
          WHERE job = 'peg-events' AND started_at < (SELECT min(applied_at) FROM schema_migrations WHERE version = 45)
      )`,
})

/** A break as known when it was confirmed, or later; times in unix seconds. */
type ConfirmedBreak = {
  stable: string
  started_at: number
  started_block: number
  confirmed_at: number
  ended_block: number | null
}

/**
 * For how many tokens a break stands, by the stable's newest depth sample from the first sample outside up to the time at which
 * the break was confirmed; null if there is none. Neither later samples nor one of the block that ended the break have a say, so
 * that it is the same whenever it is computed.
 */
export async function measuredStanding(
  clickhouse: ClickHouseClient,
  { started_at, confirmed_at, ...known }: ConfirmedBreak,
  limit: Limit,
): Promise<number | null> {
  const span = { started_at: new Date(started_at * 1000), to: new Date(confirmed_at * 1000) }
  return standingTokens(await sizesWithin(clickhouse, { ...known, ...span }), limit)
}
