import type { ClickHouseClient } from '@clickhouse/client'
import { HOUR_SECONDS } from '../../process/instants.js'
import { QueryError } from '../store/query-error.js'

/** The start of the hour that a sample counts in. */
export const QUOTE_HOUR = 'toStartOfHour(block_time)'

/** The rows of the samples that match `where`: the same computation that peg_quote_hours_mv applies to an insert. */
export const quoteHoursOf = (where = ''): string => `
  SELECT stable, ${QUOTE_HOUR} AS hour, min(block_time) AS first_sampled, maxOrNullIf(block_time, sell_micros IS NOT NULL) AS last_quoted
  FROM peg_samples ${where}
  GROUP BY stable, hour`

/** Inserts the rows of the hours that start from `first` to `last`, both included, into `table`. */
export const fillQuoteHours = (table: string): string => `
  INSERT INTO ${table}
  ${quoteHoursOf(`WHERE block_time >= {first: UInt32} AND toUnixTimestamp(${QUOTE_HOUR}) BETWEEN {first: UInt32} AND {last: UInt32}`)}`

/** The start of the hour that holds a time, both in unix seconds. */
export const hourOf = (time: number): number => time - (time % HOUR_SECONDS)

/**
 * Adds what the samples say about the hours that start between two times in unix seconds, both included. If
 * `replace` is true, what was known of them is deleted first, as some of their samples are gone. Safe to repeat, and must be repeated if it
 * fails. Rejects with QueryError.
 */
export async function rebuildQuoteHours(
  clickhouse: ClickHouseClient,
  query_params: { first: number; last: number },
  { replace = false } = {},
): Promise<void> {
  try {
    if (replace) {
      const query = 'DELETE FROM peg_quote_hours WHERE toUnixTimestamp(hour) BETWEEN {first: UInt32} AND {last: UInt32}'
      await clickhouse.command({ query, query_params })
    }
    await clickhouse.command({ query: fillQuoteHours('peg_quote_hours'), query_params })
  } catch (cause) {
    throw new QueryError('rebuild peg_quote_hours', cause)
  }
}
