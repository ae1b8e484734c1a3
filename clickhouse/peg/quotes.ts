import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { keptWhile } from '../store/kept-reads.js'
import { byStable, shared, together } from '../store/together.js'
import { dateTime, integerText } from '../store/values.js'
import type { StoredSample } from './price.js'
import { QUOTE_HOUR, quoteHoursOf } from './quote-hours.js'
import { OF_NEWEST_SAMPLES, RECENT_SAMPLES, SAMPLE, SampleTuple } from './samples.js'

/**
 * A stable that has no quote at an instant. `priced` is its last sample with a price, null if it never had one. `since`
 * is the time of its first sample without a quote after that one. With `is_bound` it may have been without a quote
 * before: there is no sample of the block before that of `since`.
 */
export type LostQuote = { priced: StoredSample | null; since: Date; is_bound: boolean }

const LostQuoteRow = z
  .object({
    stable: z.string(),
    first_sampled: dateTime,
    created_at: dateTime,
    priced: z.array(SampleTuple).max(1),
    /** Blocks of the same second without a price; the next sample after that second. */
    same_second: z.array(integerText.transform(Number)),
    next: z.array(z.tuple([dateTime, integerText.transform(Number)])).max(1),
  })
  .transform(({ stable, first_sampled, created_at, priced: [priced], same_second, next: [next] }) => {
    if (!priced) return { stable, priced: null, since: first_sampled, is_bound: first_sampled > created_at }
    const { block_number, block_time } = priced
    const following = same_second.find((block) => block > block_number)
    const [since, block] = following !== undefined ? [block_time, following] : (next ?? [block_time, null])
    return { stable, priced, since, is_bound: block !== block_number + 1 }
  })

/**
 * The stables that `which` selects, each of which has a newest sample at or before `as_of`, without a quote. The time of
 * the last quote comes from the hours before the one of `as_of`, and from the samples of that hour; the sample after it
 * lies in the same hour, or in the next one that has samples.
 */
const lostQuoteSql = (which: string): string => {
  const hours = `
    SELECT stable, first_sampled, last_quoted FROM peg_quote_hours
    WHERE stable IN (SELECT arrayJoin(unquoted)) AND hour < toStartOfHour({as_of: DateTime})
    UNION ALL
    SELECT stable, first_sampled, last_quoted
    FROM (${quoteHoursOf('WHERE stable IN (SELECT arrayJoin(unquoted)) AND block_time >= toStartOfHour({as_of: DateTime}) AND block_time <= {as_of: DateTime}')})`
  // Of what is used several times, arrays are made, because a subquery would be computed each time.
  return `
    WITH
        (SELECT groupArray(toString(stable)) FROM (${which})) AS unquoted,
        (
            SELECT groupArray((toString(stable), sampled, quoted, arrayMap(t -> toStartOfHour(t), arrayFilter(t -> t IS NOT NULL, [quoted, following]))))
            FROM
            (
                SELECT stable, min(first_sampled) AS sampled, max(last_quoted) AS quoted,
                       arrayMin(arrayFilter(t -> t > quoted, groupArray(toNullable(first_sampled)))) AS following
                FROM (${hours})
                GROUP BY stable
            )
        ) AS found,
        quoted_once AS (SELECT one.1 AS stable, assumeNotNull(one.3) AS quoted FROM (SELECT arrayJoin(found) AS one) WHERE one.3 IS NOT NULL),
        around_hours AS (SELECT one.1 AS stable, assumeNotNull(arrayJoin(one.4)) AS hour FROM (SELECT arrayJoin(found) AS one) WHERE one.3 IS NOT NULL)
    SELECT one.1 AS stable, one.2 AS first_sampled, created_at, priced, arraySort(same_second) AS same_second, next
    FROM (SELECT arrayJoin(found) AS one, one.1 AS stable) AS known
    LEFT JOIN (SELECT stable, min(block_time) AS created_at FROM stablecoins GROUP BY stable) AS creations USING stable
    LEFT JOIN
    (
        SELECT stable, [argMaxIf(sample, block_number, sell_micros IS NOT NULL)] AS priced,
               groupArrayIf(block_number, block_time = quoted AND sell_micros IS NULL) AS same_second,
               if(countIf(block_time > quoted) = 0, [], [minIf((block_time, block_number), block_time > quoted)]) AS next
        FROM
        (
            SELECT toString(stable) AS stable, block_number, block_time, sell_micros, ${SAMPLE} AS sample
            FROM peg_samples
            WHERE (stable, ${QUOTE_HOUR}) IN (SELECT stable, hour FROM around_hours) AND block_time <= {as_of: DateTime}
        ) AS samples
        INNER JOIN quoted_once USING stable
        WHERE block_time >= quoted
        GROUP BY stable
    ) AS around USING stable`
}

const OF_LOST_QUOTES = [...OF_NEWEST_SAMPLES, 'peg_quote_hours', 'stablecoins']

const LostQuoteParams = z.object({ as_of: z.date() })

/** Every stable that was sampled shortly before `as_of` and whose newest sample by then has no price. */
export const lostQuotes = keptWhile(
  OF_LOST_QUOTES,
  shared(
    'lost_quotes',
    defineQuery({
      name: 'lost_quotes',
      params: LostQuoteParams,
      row: LostQuoteRow,
      sql: lostQuoteSql(
        `SELECT stable FROM peg_samples WHERE ${RECENT_SAMPLES} GROUP BY stable HAVING argMax(sell_micros IS NULL, block_number)`,
      ),
    }),
  ),
)

const lostQuotesOf = defineQuery({
  name: 'lost_quote',
  params: LostQuoteParams.extend({ stables: z.array(z.string()) }),
  row: LostQuoteRow,
  sql: lostQuoteSql('SELECT arrayJoin({stables: Array(String)}) AS stable'),
})

/**
 * The same of one stable, whose newest sample at or before `as_of` must have no price; null if the stable has no sample any
 * more, because a reorganization has removed it.
 */
export const lostQuote = keptWhile(
  OF_LOST_QUOTES,
  together('lost_quote', async (clickhouse, asked: { stables: string[]; as_of: Date }, options) => {
    const lost = byStable(await lostQuotesOf(clickhouse, asked, options))
    return (stable): LostQuote | null => lost(stable)[0] ?? null
  }),
)
