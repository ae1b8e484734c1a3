import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import type { Direction } from './break-filter.js'
import { ONE_TOKEN, QuoteStatus } from './price.js'

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

/** The newest sample of each span, by the span's place, counted from 1: smallest size first. No row for a span without one. */
const sizesWithin = defineQuery({
  name: 'sizes_within',
  params: z.object({
    stables: z.array(z.string()),
    starts: z.array(z.int()),
    ends: z.array(z.int()),
    from_blocks: z.array(z.int()),
    before_blocks: z.array(z.int()),
    earliest: z.date(),
    latest: z.date(),
  }),
  row: SoldSize.extend({ place: z.int() }),
  sql: `
    WITH spans AS
    (
        SELECT span.1 AS stable, toDateTime(span.2, 'UTC') AS start, toDateTime(span.3, 'UTC') AS end, span.4 AS from_block, span.5 AS before_block, span.6 AS place
        FROM (SELECT arrayJoin(arrayZip({stables: Array(String)}, {starts: Array(UInt32)}, {ends: Array(UInt32)}, {from_blocks: Array(UInt64)}, {before_blocks: Array(UInt64)}, arrayEnumerate({stables: Array(String)}))) AS span)
    )
    SELECT place, size_tokens, sell_status, sell_raw
    FROM depth_samples INNER JOIN spans ON spans.stable = depth_samples.stable
    WHERE depth_samples.stable IN {stables: Array(String)} AND block_time >= {earliest: DateTime} AND block_time <= {latest: DateTime}
      AND block_time >= start AND block_time <= end AND block_number >= from_block AND block_number < before_block
    QUALIFY (block_time, block_number) = max((block_time, block_number)) OVER (PARTITION BY place)
    ORDER BY place, size_tokens`,
})

/** A break as known when it was confirmed, or later; times in unix seconds. */
type ConfirmedBreak = Limit & {
  stable: string
  started_at: number
  started_block: number
  confirmed_at: number
  ended_block: number | null
}

/** The breaks of one statement, whose parameters are part of its URL. */
const MAX_SPANS = 1000

/**
 * For how many tokens each break stands, by the stable's newest depth sample from the first sample outside up to the time at which
 * the break was confirmed; null if there is none. Neither later samples nor one of the block that ended the break have a say, so
 * that it is the same whenever it is computed.
 */
export async function measuredStandings(
  clickhouse: ClickHouseClient,
  breaks: readonly ConfirmedBreak[],
): Promise<(number | null)[]> {
  const measured: (number | null)[] = []
  for (let i = 0; i < breaks.length; i += MAX_SPANS) {
    const spans = breaks.slice(i, i + MAX_SPANS)
    const starts = spans.map(({ started_at }) => started_at)
    const ends = spans.map(({ confirmed_at }) => confirmed_at)
    const rows = await sizesWithin(clickhouse, {
      stables: spans.map(({ stable }) => stable),
      starts,
      ends,
      from_blocks: spans.map(({ started_block }) => started_block),
      before_blocks: spans.map(({ ended_block }) => ended_block ?? Number.MAX_SAFE_INTEGER),
      earliest: new Date(Math.min(...starts) * 1000),
      latest: new Date(Math.max(...ends) * 1000),
    })
    const sizes = spans.map((): SoldSize[] => [])
    for (const { place, ...size } of rows) sizes[place - 1]?.push(size)
    measured.push(...spans.map((span, at) => standingTokens(sizes[at] ?? [], span)))
  }
  return measured
}
