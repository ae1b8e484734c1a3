import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'

/** SQL: where in the chain a choice was made, as one number: comparing pairs takes more than twice as long. */
const POSITION = 'toUInt128(block_number) * 4294967296 + log_index'

/** SQL: the start of the year, and of the month, that a time lies in. */
const yearOf = (time: string): string => `toDateTime(toStartOfYear(${time}), 'UTC')`
const monthOf = (time: string): string => `toDateTime(toStartOfMonth(${time}), 'UTC')`
/** SQL: the start of the span of so many `months`, 1 or 12, that a time lies in. */
const spanOf = (time: string): string => `if(months = 12, ${yearOf(time)}, ${monthOf(time)})`

/** Each choice with each of the spans that it lies in. */
export const CHOICES_IN_SPANS = 'fee_elections ARRAY JOIN [1, 12] AS months'

/** The start of the span of a row of CHOICES_IN_SPANS. */
export const SPAN_START = spanOf('block_time')

/**
 * The last choice of each account in each span, of the choices that match `where`: the same computation that
 * fee_choices_mv applies to an insert.
 */
export const feeChoicesOf = (where = ''): string => `
  SELECT months, ${SPAN_START} AS span_start, chooser, any(kind) AS chosen_by, argMax(stable, ${POSITION}) AS chosen,
         max(${POSITION}) AS position
  FROM ${CHOICES_IN_SPANS} ${where}
  GROUP BY months, span_start, chooser`

/** Inserts the choices of the spans that start from `first` to `last`, both included, into `table`. */
export const fillFeeChoices = (table: string): string => `
  INSERT INTO ${table}
  ${feeChoicesOf(`WHERE block_time >= {first: UInt32} AND toUnixTimestamp(${SPAN_START}) BETWEEN {first: UInt32} AND {last: UInt32}`)}`

const AT = "toDateTime({at: DateTime}, 'UTC')"

/**
 * Choices among which is the last one of each account as of the parameter `at`: the last ones of whole years, of the whole
 * months since, and every one of the rest of the month.
 */
export const LAST_CHOICES = `
        SELECT chooser, chosen_by, chosen, position FROM fee_choices
        WHERE (months = 12 AND span_start < ${yearOf(AT)})
           OR (months = 1 AND span_start >= ${yearOf(AT)} AND span_start < ${monthOf(AT)})
        UNION ALL
        SELECT chooser, kind, stable, ${POSITION} FROM fee_elections
        WHERE block_time >= ${monthOf(AT)} AND block_time <= {at: DateTime}`

async function insertChoices(
  clickhouse: ClickHouseClient,
  where: string,
  query_params: Record<string, number>,
): Promise<void> {
  const query = `INSERT INTO fee_choices ${feeChoicesOf(where)}`
  // Deduplication must not mistake this for an earlier insert of the same rows, which were deleted since.
  await clickhouse.command({ query, query_params, clickhouse_settings: { insert_deduplicate: 0 } }).catch((cause) => {
    throw new QueryError('insert into fee_choices', cause)
  })
}

/**
 * Adds the choices that were made between two times in unix seconds, both included. Safe to repeat. Rejects with
 * QueryError.
 */
export const addFeeChoices = (clickhouse: ClickHouseClient, times: { first: number; last: number }): Promise<void> =>
  insertChoices(clickhouse, 'WHERE block_time BETWEEN {first: UInt32} AND {last: UInt32}', times)

/**
 * After the choices of all blocks later than this one were removed: lets go of those that were kept, and adds the ones before
 * them again. A row of an earlier choice stays, because a backfill may add some at the same time. Safe to repeat, and must be
 * repeated if it fails. Rejects with QueryError.
 */
export async function rebuildFeeChoices(
  clickhouse: ClickHouseClient,
  query_params: { block: number; time: number },
): Promise<void> {
  const first = spanOf("toDateTime({time: UInt32}, 'UTC')")
  const query = `DELETE FROM fee_choices WHERE span_start >= ${first} AND bitShiftRight(position, 32) > {block: UInt64}`
  await clickhouse.command({ query, query_params }).catch((cause) => {
    throw new QueryError(query, cause)
  })
  await insertChoices(clickhouse, `WHERE block_time >= ${first}`, query_params)
}

/**
 * Spans that ended by a time in unix seconds of which the kept choices are not the last ones of each account. The first ten,
 * with the number of rows that only one side has.
 */
export const differingChoices = defineQuery({
  name: 'differing_fee_choices',
  params: z.object({ to: z.int() }),
  row: z.object({ span: z.string(), differing: z.int() }),
  sql: `
    SELECT concat(toString(months), if(months = 1, ' month from ', ' months from '), toString(start)) AS span, toUInt32(count()) AS differing
    FROM
    (
        SELECT months, start, chosen_by, place, last_choice
        FROM
        (
            SELECT months, toDate(span_start) AS start, toString(chosen_by) AS chosen_by, chooser,
                   toUInt64(bitShiftRight(position, 32)) AS place, toString(chosen) AS last_choice, 1 AS side
            FROM fee_choices FINAL
            UNION ALL
            SELECT months, if(months = 12, toStartOfYear(block_time), toStartOfMonth(block_time)) AS start, toString(kind),
                   reinterpretAsUInt128(sipHash128(kind, account)), max(block_number), toString(argMax(stable, (block_number, log_index))), -1
            FROM fee_elections ARRAY JOIN [1, 12] AS months
            GROUP BY months, start, kind, account
        )
        WHERE toUnixTimestamp(addMonths(start, months), 'UTC') <= {to: UInt32}
        GROUP BY months, start, chosen_by, chooser, place, last_choice
        HAVING sum(side) != 0
    )
    GROUP BY months, start
    ORDER BY start, months
    LIMIT 10`,
})
