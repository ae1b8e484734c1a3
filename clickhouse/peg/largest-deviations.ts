import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { stablePrices } from './agreed/stable-prices.js'
import { continueTracks, trackStatesAt } from './agreed/tracks.js'
import type { Severity, Track } from './break-filter.js'
import { excursionKey, excursionOf } from './excursions.js'
import { BREAK_PRICES } from './rules.js'
import { DEVIATION, MINUTE_END } from './sums.js'

/**
 * A subquery for distances from 1, in millionths: of the minutes that the condition `minutes` chooses the largest, read from
 * minute states, so that a long time costs little; and of the samples that `samples` chooses each. The condition `which`
 * chooses stables.
 */
export const distances = ({ which, minutes, samples }: { which: string; minutes: string; samples: string }): string => `
        SELECT stable, true AS is_minute, minute_end AS time, 0 AS block, toUInt32(greatest(-deviation_min, deviation_max)) AS distance
        FROM peg_minutes
        WHERE ${which} AND ${minutes} AND deviation_min IS NOT NULL
        UNION ALL
        SELECT stable, false, block_time, block_number, toUInt32(abs(${DEVIATION}))
        FROM peg_samples
        WHERE ${which} AND ${samples} AND sell_micros IS NOT NULL`

/** The largest distances from samples up to `to` by place in the parameters, counted from 1; without those without a price. */
const largestSince = defineQuery({
  name: 'largest_deviations',
  params: z.object({
    stables: z.array(z.string()),
    starts: z.array(z.int()),
    blocks: z.array(z.int()),
    earliest: z.date(),
    to: z.date(),
  }),
  row: z.object({ place: z.int(), max_deviation_micros: z.int() }),
  // The minutes in which breaks begin, and the one that `to` is in, are read from samples.
  sql: `
    WITH toStartOfMinute({to: DateTime}) AS tail,
         arrayMap(start -> toStartOfMinute(toDateTime(start, 'UTC') + 59), {starts: Array(UInt32)}) AS heads
    SELECT place, max(distance) AS max_deviation_micros
    FROM
    (${distances({
      which: 'stable IN {stables: Array(String)}',
      minutes: 'minute_end > {earliest: DateTime} AND minute_end <= tail',
      samples: `block_time >= {earliest: DateTime} AND block_time <= {to: DateTime} AND (${MINUTE_END} IN heads OR block_time > tail)`,
    })}
    ) AS prices
    INNER JOIN
    (
        SELECT start.1 AS stable, toDateTime(start.2, 'UTC') AS since, start.3 AS since_block, start.4 AS place, toStartOfMinute(since + 59) AS head
        FROM (SELECT arrayJoin(arrayZip({stables: Array(String)}, {starts: Array(UInt32)}, {blocks: Array(UInt64)}, arrayEnumerate({stables: Array(String)}))) AS start)
    ) AS breaks ON breaks.stable = prices.stable
    WHERE if(is_minute, time > head, (time <= head OR time > tail) AND (time, block) >= (since, since_block))
    GROUP BY place`,
})

/** A break in progress: what identifies it on its track. */
type OpenBreak = { stable: string; severity: Severity; started_at: Date; started_block: number }

type Largest = (
  clickhouse: ClickHouseClient,
  request: { breaks: readonly OpenBreak[]; to: Date },
  options?: { signal?: QuerySignal },
) => Promise<(number | null)[]>

const largestPublished: Largest = async (clickhouse, { breaks, to }, options) => {
  const starts = breaks.map(({ started_at }) => started_at.getTime() / 1000)
  const request = {
    stables: breaks.map(({ stable }) => stable),
    starts,
    blocks: breaks.map(({ started_block }) => started_block),
    earliest: new Date(Math.min(...starts) * 1000),
    to,
  }
  const rows = await largestSince(clickhouse, request, options)
  const largest = new Map(rows.map(({ place, max_deviation_micros }) => [place, max_deviation_micros]))
  return breaks.map((_, i) => largest.get(i + 1) ?? null)
}

/** What a break is at a time is found by continuing the finders from the slot before it. */
const largestAgreed: Largest = async (clickhouse, { breaks, to }, options) => {
  const newest = await trackStatesAt(clickhouse, { at: to }, options)
  const stables = [...new Set(breaks.map(({ stable }) => stable))]
  const before = Object.fromEntries(Object.entries(newest?.states ?? {}).filter(([stable]) => stables.includes(stable)))
  if (!newest || Object.keys(before).length === 0) return breaks.map(() => null)
  const end = to.getTime() / 1000
  const [only, ...others] = stables
  const range = { from: newest.slot_at, to: end, ...(only !== undefined && others.length === 0 && { only }) }
  const samples = await stablePrices(clickhouse, BREAK_PRICES.agreed, range, options)
  const [tracks] = continueTracks(before, samples, [end])
  const largest = new Map(
    tracks?.breaks.map(excursionOf).map((excursion) => [excursionKey(excursion), excursion.max_deviation_micros]),
  )
  return breaks.map(
    ({ started_at, ...start }) =>
      largest.get(excursionKey({ ...start, started_at: started_at.getTime() / 1000 })) ?? null,
  )
}

const LARGEST = { published: largestPublished, agreed: largestAgreed } as const satisfies Record<Track, Largest>

/**
 * The largest distances from 1, in millionths, of the prices that a track follows, in breaks in progress from the first sample
 * of each up to `to`, both included; null without a price. The number of statements does not depend on that of breaks.
 */
export const largestDeviations = async (
  clickhouse: ClickHouseClient,
  { track, ...request }: { track: Track; breaks: readonly OpenBreak[]; to: Date },
  options?: { signal?: QuerySignal },
): Promise<(number | null)[]> => (request.breaks.length === 0 ? [] : LARGEST[track](clickhouse, request, options))
