import { z } from 'zod'
import { newestBlockTime } from '../chain/blocks.js'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { defineColumns, defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { byStable, columnsByStable, STABLE_INDEX, shared, together } from '../store/together.js'
import { dateTime, integerText } from '../store/values.js'
import { QuoteStatus, type StoredSample } from './price.js'
import { MINUTE_END } from './sums.js'

/** What one token sells and buys for at the end of a block, in 1e-6 of the reference stable; null without a quote. */
export type PegSample = {
  stable: string
  block_number: number
  block_time: number
  elapsed_seconds: number
  status: QuoteStatus
  sell_micros: number | null
  buy_micros: number | null
}

/** A sample from the tuple that SAMPLE selects. */
export const SampleTuple = z
  .tuple([integerText.transform(Number), dateTime, QuoteStatus, z.int().nullable(), z.int().nullable()])
  .transform(([block_number, block_time, status, sell_micros, buy_micros]) => ({
    block_number,
    block_time,
    status,
    sell_micros,
    buy_micros,
  }))

export const SAMPLE = '(block_number, block_time, status, sell_micros, buy_micros)'

const samplesInMinutes = defineColumns({
  name: 'peg_samples_of_minutes',
  params: z.object({ stables: z.array(z.string()), minute_ends: z.array(z.int()) }),
  columns: {
    stable_index: z.int(),
    at: z.int(),
    block_number: z.int(),
    elapsed_seconds: z.int(),
    status: QuoteStatus,
    sell_micros: z.int().nullable(),
    buy_micros: z.int().nullable(),
  },
  sql: `
    SELECT ${STABLE_INDEX}, toUnixTimestamp(block_time) AS at, toUInt32(block_number) AS block_number, elapsed_seconds, status, sell_micros, buy_micros
    FROM peg_samples
    WHERE stable IN {stables: Array(String)} AND ${MINUTE_END} IN {minute_ends: Array(DateTime)}`,
})

/** Most stables of whose samples those around the requested minutes are read too. */
const MOST_STABLES_AROUND = 4

/**
 * A stable's samples in the minutes that end at `minute_ends`, in no order, as they are stored, and unless many stables are
 * read at once those in the minutes that end at `around`; with the ends of the minutes that were read. `at` in unix seconds.
 */
export const samplesOfMinutes = together(
  'peg_samples_of_minutes',
  async (clickhouse, asked: { stables: string[]; minute_ends: number[]; around: number[] }, options) => {
    const { stables, around } = asked
    const minute_ends = stables.length > MOST_STABLES_AROUND ? asked.minute_ends : [...asked.minute_ends, ...around]
    const samples = columnsByStable(await samplesInMinutes(clickhouse, { stables, minute_ends }, options), stables)
    return (stable) => ({ samples: samples(stable), minute_ends })
  },
)
export type SamplesOfMinutes = Awaited<ReturnType<typeof samplesOfMinutes>>['samples']

/**
 * The samples of all stables in the last ten minutes up to the newest block at `as_of`. Every tracked stable is sampled in
 * every block, so a stable without a sample there is not tracked.
 */
const RECENT_SAMPLES = `block_time <= {as_of: DateTime} AND block_time > ${newestBlockTime('{as_of: DateTime}')} - 600`

/** What the newest samples up to an instant depend on. */
export const OF_NEWEST_SAMPLES = ['blocks', 'peg_samples'] as const

const newestOfAll = defineQuery({
  name: 'newest_samples',
  params: z.object({ as_of: z.date(), stables: z.array(z.string()).default([]) }),
  row: z.object({ stable: z.string(), newest: SampleTuple }),
  sql: `
    SELECT stable, argMax(${SAMPLE}, block_number) AS newest FROM peg_samples
    WHERE (empty({stables: Array(String)}) OR stable IN {stables: Array(String)}) AND ${RECENT_SAMPLES}
    GROUP BY stable`,
})

/**
 * The newest sample at or before `as_of` of every tracked stable, or of those of `stables` if there are any. The cost does
 * not grow with history.
 */
export const newestSamples = keptWhile(OF_NEWEST_SAMPLES, shared('newest_samples', newestOfAll))

const newestTracked = together(
  'newest_samples',
  async (clickhouse, asked: { stables: string[]; as_of: Date }, options) => {
    const found = byStable(await newestOfAll(clickhouse, asked, options))
    return (stable) => found(stable)[0]?.newest ?? null
  },
)

/** Of one stable at a time: the engine finds a stable's last row at once, but not those of several. */
const newestEver = shared(
  'newest_sample',
  recentFirst(
    defineOptionalRow({
      name: 'newest_sample',
      params: z.object({ stable: z.string(), as_of: z.date(), recent_only: z.boolean() }),
      row: onlyColumn('sample', SampleTuple),
      sql: `
    SELECT ${SAMPLE} AS sample
    FROM peg_samples
    WHERE stable = {stable: String} AND block_time <= {as_of: DateTime} AND ${isRecent('block_time', 'as_of')}
    ORDER BY block_time DESC, block_number DESC LIMIT 1`,
    }),
  ),
)

/** A stable's nearest sample at or before `as_of`, with or without a price. Null before its first one. */
export const newestSample = keptWhile(
  OF_NEWEST_SAMPLES,
  async (clickhouse, asked: { stable: string; as_of: Date }, options): Promise<StoredSample | null> =>
    (await newestTracked(clickhouse, asked, options)) ?? newestEver(clickhouse, asked, options),
)

/**
 * The time of the newest peg sample that did not fail, within the `within_seconds` before the newest block; null if
 * there is none. `has_stables`: there is at least one stable to sample.
 */
export const newestSampled = defineRow({
  name: 'newest_sampled',
  params: z.object({ within_seconds: z.int() }),
  row: z.object({ sampled_at: dateTime.nullable(), has_stables: z.boolean() }),
  sql: `
    WITH (SELECT max(block_time) FROM blocks) AS newest
    SELECT formatDateTime(maxOrNull(block_time), '%FT%TZ') AS sampled_at, (SELECT count() > 0 FROM stablecoins)::Bool AS has_stables
    FROM peg_samples
    WHERE block_time > newest - {within_seconds: UInt32} AND status != 'failed'`,
})

/**
 * The peg samples of all stables in one block. The time of the block is needed to find them without reading all
 * samples.
 */
export const samplesOfBlock = defineQuery({
  name: 'samples_of_block',
  params: z.object({ block_number: z.int(), block_time: z.date() }),
  row: z.object({ stable: z.string(), sample: SampleTuple }),
  sql: `
    SELECT stable, ${SAMPLE} AS sample
    FROM peg_samples
    WHERE block_time = {block_time: DateTime} AND block_number = {block_number: UInt64}
    ORDER BY stable`,
})

/** How the quote of a stable ended in one block. */
export const quoteStatus = defineRow({
  name: 'quote_status',
  params: z.object({ stable: z.string(), block_number: z.int(), block_time: z.date() }),
  row: onlyColumn('status', QuoteStatus),
  sql: `
    SELECT status FROM peg_samples
    WHERE stable = {stable: String} AND block_time = {block_time: DateTime} AND block_number = {block_number: UInt64}`,
})
