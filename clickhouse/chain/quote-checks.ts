import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import { defineQuery, defineRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'

/** How often the quotes of the exchange's books and those of the node were compared in a batch, at how many blocks. */
type QuoteCheck = { blocks: number; quotes: number; differences: number }

/** Adds a check to those of the day of `time`, in unix seconds. Repeating it with the same token changes nothing. */
export const insertQuoteCheck = (
  clickhouse: ClickHouseClient,
  check: QuoteCheck & { time: number },
  token: string,
): Promise<void> => {
  const { time, ...counts } = check
  const day = time - (time % DAY_SECONDS)
  return insertRows(clickhouse, 'quote_checks', [{ day, ...counts }], `quote_check:${token}`)
}

/** All checks together. */
export const quoteAgreement = defineRow({
  name: 'quote_agreement',
  row: z.object({ blocks: z.number(), quotes: z.number(), differences: z.number() }),
  sql: `
    SELECT toFloat64(sum(quote_checks.blocks)) AS blocks, toFloat64(sum(quote_checks.quotes)) AS quotes,
           toFloat64(sum(quote_checks.differences)) AS differences
    FROM quote_checks`,
})

/** Most stables of a stretch that are named. */
export const MOST_STABLES = 20

const DisagreedRange = z.object({
  from_block: z.int(),
  to_block: z.int(),
  from_time: z.int(),
  to_time: z.int(),
  stables: z.array(z.string()),
})

/**
 * Blocks, both ends included, in whose batches the node quoted otherwise than the books, and the stables of which it did. Times in
 * unix seconds.
 */
export type DisagreedRange = z.infer<typeof DisagreedRange>

/** Records a stretch, and what was read of it; of two that begin with the same block, the longer one counts. */
export const insertDisagreement = (
  clickhouse: ClickHouseClient,
  stretch: DisagreedRange & { scope: string },
): Promise<void> => insertRows(clickhouse, 'quote_disagreements', [stretch], randomUUID())

/** The ranges with disagreements, oldest first: disjoint, because adjacent and overlapping stretches are one. */
export const disagreedRanges = defineQuery({
  name: 'disagreed_ranges',
  row: DisagreedRange,
  sql: `
    SELECT toUInt32(min(first)) AS from_block, toUInt32(max(last)) AS to_block, toUnixTimestamp(min(first_at)) AS from_time,
           toUnixTimestamp(max(last_at)) AS to_time, CAST(groupUniqArrayArray(${MOST_STABLES})(differing), 'Array(String)') AS stables
    FROM (
        SELECT first, last, first_at, last_at, differing, sum(first > before + 1) OVER (ORDER BY first, last) AS place
        FROM (
            SELECT from_block AS first, to_block AS last, from_time AS first_at, to_time AS last_at, stables AS differing,
                   max(to_block) OVER (ORDER BY from_block, to_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
            FROM quote_disagreements FINAL
        )
    )
    GROUP BY place ORDER BY from_block`,
})

/** SQL: a text that changes when a batch disagrees. */
export const DISAGREED_MARK =
  'SELECT toString(sum(cityHash64(from_block, scope, to_block, stables))) FROM quote_disagreements FINAL'
