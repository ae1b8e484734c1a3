import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { shared } from '../store/together.js'
import { type ListPeriod, listPeriods, type Track, tokenLists } from './token-lists.js'

/**
 * Most stables beside the listed ones that are sampled where `track` is 'paired': those whose books were opened first. Anybody can
 * create tokens and open books for them, and each that is sampled costs two reads and a row a block.
 */
export const MOST_UNLISTED = 100

const count = z.int().nonnegative()

/** The first book of a stable on the exchange, and where it was opened; in unix seconds. */
const OpenedBook = z.object({ stable: z.string(), block_number: count, block_time: count })
export type OpenedBook = z.infer<typeof OpenedBook>

/** The stables whose books were opened first, in that order. */
const firstBooks = keptWhile(
  ['dex_pairs'],
  shared(
    'first_books',
    defineQuery({
      name: 'first_books',
      params: z.object({ before_block: count, most: count }),
      row: OpenedBook,
      sql: `
        SELECT base AS stable, toUInt32(opened.1) AS block_number, toUnixTimestamp(opened.3) AS block_time
        FROM (
          SELECT base, min((block_number, log_index, block_time)) AS opened
          FROM dex_pairs WHERE block_number < {before_block: UInt64} GROUP BY base
        )
        ORDER BY opened LIMIT {most: UInt32}`,
    }),
  ),
)

/** As many of the books that were opened before a block as decide who is sampled in these stretches. */
export async function decisiveBooks(
  clickhouse: ClickHouseClient,
  periods: readonly ListPeriod[],
  before_block: number,
  options?: ReadOptions,
): Promise<OpenedBook[]> {
  const listed = periods.flatMap(({ track, listed }) => (track === 'paired' ? listed.size : []))
  if (listed.length === 0) return []
  return firstBooks(clickhouse, { before_block, most: MOST_UNLISTED + Math.max(...listed) }, options)
}

type Start = Pick<OpenedBook, 'block_number' | 'block_time'>

/** A stretch of history with one list, and whose pegs are sampled in it. */
export type SampledPeriod = ListPeriod & {
  /** Where those begin that are sampled though they are not listed; empty where all are. */
  unlisted: ReadonlyMap<string, Start>
  /** Learns of a book. Books come in the order in which they were opened; only the first of a stable counts. */
  open: (book: OpenedBook) => void
  /** From where on a stable is sampled in the stretch, if it exists by then; null if it is not. */
  sampledFrom: (stable: string) => Start | null
}

/** Whose pegs are sampled when, as far as the books so far tell. */
export const sampledPeriods = (
  periods: readonly ListPeriod[],
  books: readonly OpenedBook[] = [],
): readonly SampledPeriod[] =>
  periods.map((period) => {
    const { from_block, to_block, from, track, listed } = period
    const unlisted = new Map<string, Start>()
    const open = ({ stable, block_number, block_time }: OpenedBook): void => {
      if (track !== 'paired' || unlisted.size === MOST_UNLISTED || listed.has(stable) || unlisted.has(stable)) return
      if (to_block !== null && block_number >= to_block) return
      unlisted.set(stable, { block_number: Math.max(from_block, block_number), block_time: Math.max(from, block_time) })
    }
    books.forEach(open)
    const whole = { block_number: from_block, block_time: from }
    const sampledFrom = (stable: string) =>
      track === 'all' || listed.has(stable) ? whole : (unlisted.get(stable) ?? null)
    return { ...period, unlisted, open, sampledFrom }
  })

/** Whose pegs are sampled when, by the lists that were recorded by now or by `recorded_by`. */
export async function readSampling(
  clickhouse: ClickHouseClient,
  { recorded_by, ...options }: ReadOptions & { recorded_by?: Date | undefined } = {},
): Promise<readonly SampledPeriod[]> {
  const periods = listPeriods(await tokenLists(clickhouse, { ...options, recorded_by }))
  return sampledPeriods(periods, await decisiveBooks(clickhouse, periods, Number.MAX_SAFE_INTEGER, options))
}

/** The stables whose pegs are sampled at an instant, some of which may not exist yet; null for all. */
export async function sampledStables(
  clickhouse: ClickHouseClient,
  { at }: { at: Date },
  options?: ReadOptions,
): Promise<string[] | null> {
  const period = (await readSampling(clickhouse, options)).findLast(({ from }) => from * 1000 <= at.getTime())
  if (!period || period.track === 'all') return null
  const unlisted = [...period.unlisted].filter(([, { block_time }]) => block_time * 1000 <= at.getTime())
  return [...period.listed, ...unlisted.map(([stable]) => stable)]
}

/** A stable is not sampled: since when, if it was before; null if it never was. `track`: whose pegs are sampled instead. */
export type Unsampled = { since: Date | null; track: Track }

/** Whether a stable is sampled at an instant, in unix seconds: null if it is, or if there is no list. */
function unsampledIn(periods: readonly SampledPeriod[], stable: string, at: number): Unsampled | null {
  const begun = periods.filter(({ from }) => from <= at)
  const isSampled = ({ sampledFrom }: SampledPeriod): boolean => (sampledFrom(stable)?.block_time ?? Infinity) <= at
  const [newest, last] = [begun.at(-1), begun.findLast(isSampled)]
  if (!newest || newest === last) return null
  return { since: last?.to != null ? new Date(last.to * 1000) : null, track: newest.track }
}

type SampledAt = { at: Date; recorded_by?: Date | undefined }

/** A function that says since when a stable is not sampled as of `at`, by the lists recorded by `recorded_by`; null if it is. */
export async function unsampledStablesAt(
  clickhouse: ClickHouseClient,
  { at, recorded_by }: SampledAt,
  options?: ReadOptions,
): Promise<(stable: string) => Unsampled | null> {
  const periods = await readSampling(clickhouse, { ...options, recorded_by })
  return (stable) => unsampledIn(periods, stable, at.getTime() / 1000)
}

/** Since when one stable is not sampled as of `at`; null if it is. */
export async function unsampledAt(
  clickhouse: ClickHouseClient,
  { stable, ...sampled }: SampledAt & { stable: string },
  options?: ReadOptions,
): Promise<Unsampled | null> {
  return (await unsampledStablesAt(clickhouse, sampled, options))(stable)
}

/** A stretch in which a stable is not sampled: blocks and unix seconds, the ends excluded; null while it lasts. */
export type UnsampledRange = Pick<ListPeriod, 'from_block' | 'to_block' | 'from' | 'to'>

/** The stretches in which a stable that was created at `created` is not sampled, oldest first. */
export function unsampledRanges(
  periods: readonly SampledPeriod[],
  { stable, created }: { stable: string; created: Start },
): UnsampledRange[] {
  const ranges: UnsampledRange[] = []
  for (const { from_block, from, sampledFrom, ...period } of periods) {
    const began = sampledFrom(stable)
    const [to_block, to] = began ? [began.block_number, began.block_time] : [period.to_block, period.to]
    const start = Math.max(from_block, created.block_number)
    if (to_block !== null && to_block <= start) continue
    const last = ranges.at(-1)
    if (last && last.to_block === from_block) [last.to_block, last.to] = [to_block, to]
    else ranges.push({ from_block: start, to_block, from: Math.max(from, created.block_time), to })
  }
  return ranges
}
