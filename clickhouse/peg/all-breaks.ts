import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { type BreakFilter, BreakFilterParams, breakPasses, Severity } from './break-filter.js'
import {
  type BreakTable,
  IS_OPEN,
  isWanted,
  ListedBreak,
  listedColumns,
  PEG_EVENTS_SINCE_SETTINGS,
  type PegEvent,
  pegEventsSince,
} from './breaks.js'
import { newestSamples } from './samples.js'
import { DEVIATION, MINUTE_END } from './sums.js'

/** The position at which a page of the breaks of all stables, newest first, continues: after the break with these values. */
export const AnyBreakKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.int().min(0), Severity, z.string().max(42)])
export type AnyBreakKey = z.infer<typeof AnyBreakKey>

/** Sorts before every break. */
const NEWEST: AnyBreakKey = [END_OF_TIME, Number.MAX_SAFE_INTEGER, 'severe', '~']
/** More breaks than can be in progress at once. */
const ALL = 0xffff_ffff

/** A break as a table has it, and the slot that wrote it: what it says of a break in progress is true up to there. */
const StoredBreak = ListedBreak.extend({ slot_at: dateTime })
type StoredBreak = z.infer<typeof StoredBreak>

/**
 * The breaks of all stables in a table: with `open` those in progress at `as_of`, and else those that ended after `from` and by `as_of`
 * and pass the filter. Newest first, at most `limit` of those after the key `after`. The cost grows with the time since `from`,
 * not with that before.
 */
export const breaksOfAll = (table: BreakTable) =>
  defineQuery({
    name: `${table}_of_all`,
    params: z
      .object({
        from: z.date(),
        as_of: z.date(),
        open: z.boolean(),
        limit: z.int(),
        after: AnyBreakKey.default(NEWEST),
        ...BreakFilterParams,
      })
      .transform(({ after: [after_time, after_block, after_severity, after_stable], ...rest }) => ({
        ...rest,
        ...{ after_time, after_block, after_severity, after_stable },
      })),
    row: StoredBreak,
    sql: `
    SELECT ${listedColumns(table)}, events.slot_at AS slot_at
    FROM (${pegEventsSince('least({from: DateTime}, {as_of: DateTime})', table)}) AS events
    WHERE confirmed_at <= {as_of: DateTime}
      AND if({open: Bool}, ${IS_OPEN}, NOT ${IS_OPEN} AND events.ended_at > {from: DateTime} AND ${isWanted(table)})
      AND (toUnixTimestamp(started_at), events.started_block, severity, toString(stable)) < ({after_time: UInt32}, {after_block: UInt64}, {after_severity: Enum8('mild' = 1, 'severe' = 2)}, {after_stable: String})
    ORDER BY events.started_at DESC, events.started_block DESC, severity DESC, stable DESC
    LIMIT {limit: UInt32}
    ${PEG_EVENTS_SINCE_SETTINGS}`,
  })

/** When stables that are no longer sampled were sampled last, after `from` and by `as_of`; without those that were not. */
const lastSampled = defineQuery({
  name: 'last_sampled',
  params: z.object({ stables: z.array(z.string()), from: z.date(), as_of: z.date() }),
  row: z.object({ stable: z.string(), sampled_at: dateTime }),
  sql: `
    SELECT stable, max(block_time) AS sampled_at FROM peg_samples
    WHERE stable IN {stables: Array(String)} AND block_time >= {from: DateTime} AND block_time <= {as_of: DateTime}
    GROUP BY stable`,
})

/** A break in progress of which the largest distance is wanted. */
type OpenBreak = Pick<PegEvent, 'severity' | 'started_at' | 'started_block'> & { stable: string }

/** The largest distances by place in the parameters, counted from 1; see `maxPegDeviation`. */
const maximaOf = defineQuery({
  name: 'max_peg_deviations',
  params: z.object({
    stables: z.array(z.string()),
    starts: z.array(z.int()),
    blocks: z.array(z.int()),
    earliest: z.date(),
    to: z.date(),
  }),
  row: z.object({ place: z.int(), max_deviation_micros: z.int() }),
  sql: `
    WITH toStartOfMinute({to: DateTime}) AS last_minute_end,
         arrayMap(start -> toStartOfMinute(toDateTime(start, 'UTC') + 59), {starts: Array(UInt32)}) AS first_minute_ends,
         breaks AS
         (
             SELECT one.1 AS stable, toDateTime(one.2, 'UTC') AS since, one.3 AS since_block, one.4 AS place,
                    toStartOfMinute(since + 59) AS first_minute_end
             FROM (SELECT arrayJoin(arrayZip({stables: Array(String)}, {starts: Array(UInt32)}, {blocks: Array(UInt64)}, arrayEnumerate({stables: Array(String)}))) AS one)
         )
    SELECT place, max(distance) AS max_deviation_micros
    FROM
    (
        SELECT place, toUInt32(greatest(-deviation_min, deviation_max)) AS distance
        FROM peg_minutes
        INNER JOIN breaks ON breaks.stable = peg_minutes.stable
        WHERE peg_minutes.stable IN {stables: Array(String)} AND minute_end > {earliest: DateTime}
          AND minute_end > first_minute_end AND minute_end <= last_minute_end AND deviation_min IS NOT NULL
        UNION ALL
        SELECT place, toUInt32(abs(${DEVIATION}))
        FROM peg_samples
        INNER JOIN breaks ON breaks.stable = peg_samples.stable
        WHERE peg_samples.stable IN {stables: Array(String)} AND sell_micros IS NOT NULL
          AND (has(first_minute_ends, ${MINUTE_END}) OR block_time > last_minute_end)
          AND block_time >= {earliest: DateTime} AND block_time <= {to: DateTime}
          AND (block_time <= first_minute_end OR block_time > last_minute_end)
          AND (block_time, block_number) >= (since, since_block)
    )
    GROUP BY place`,
})

/** The largest distance from 1, in millionths, of each break up to `to`, in one statement; null without a price. */
async function maxPegDeviations(
  clickhouse: ClickHouseClient,
  { breaks, to }: { breaks: readonly OpenBreak[]; to: Date },
  options?: { signal?: QuerySignal },
): Promise<(number | null)[]> {
  const starts = breaks.map(({ started_at }) => started_at.getTime() / 1000)
  const asked = {
    stables: breaks.map(({ stable }) => stable),
    starts,
    blocks: breaks.map(({ started_block }) => started_block),
    earliest: new Date(Math.min(...starts) * 1000),
    to,
  }
  const found = new Map(
    (await maximaOf(clickhouse, asked, options)).map(({ place, max_deviation_micros }) => [
      place,
      max_deviation_micros,
    ]),
  )
  return breaks.map((_, i) => found.get(i + 1) ?? null)
}

/** A set of tracks of breaks, of all stables. */
export type AllTracks = {
  list: ReturnType<typeof breaksOfAll>
  /** The largest distances of breaks in progress up to `to`, as `BreakTracks` has that of one. */
  maxima: typeof maxPegDeviations
}

/** The tracks that are known as mild and severe. */
export const ALL_PUBLISHED: AllTracks = { list: breaksOfAll('peg_events'), maxima: maxPegDeviations }

type Asked = {
  from: Date
  as_of: Date
  /** The detector's last completed slot; null before its first. */
  horizon: Date | null
  limit: number
  after?: AnyBreakKey | undefined
  filter?: BreakFilter
}

const seconds = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1000

/** The breaks in progress at `as_of` as far as they are known then: how large they have become, and up to the newest sample how long. */
async function openAt(
  clickhouse: ClickHouseClient,
  { maxima }: AllTracks,
  open: readonly StoredBreak[],
  as_of: Date,
  options?: { signal?: QuerySignal },
): Promise<(StoredBreak & { duration_seconds: number })[]> {
  if (open.length === 0) return []
  const stables = [...new Set(open.map(({ stable }) => stable))]
  // What the slot at the instant wrote is known as of it.
  const later = open.filter(({ slot_at }) => slot_at.getTime() !== as_of.getTime())
  const [sampled, largest] = await Promise.all([
    newestSamples(clickhouse, { as_of, stables }, options),
    later.length === 0 ? [] : maxima(clickhouse, { breaks: later, to: as_of }, options),
  ])
  const until = new Map(sampled.map(({ stable, newest }) => [stable, newest.block_time]))
  const lacking = open.filter(({ stable }) => !until.has(stable))
  if (lacking.length > 0) {
    const from = new Date(Math.min(...lacking.map(({ started_at }) => started_at.getTime())))
    const asked = { stables: lacking.map(({ stable }) => stable), from, as_of }
    for (const { stable, sampled_at } of await lastSampled(clickhouse, asked, options)) until.set(stable, sampled_at)
  }
  return open.map((one) => ({
    ...one,
    max_deviation_micros: largest[later.indexOf(one)] ?? one.max_deviation_micros,
    duration_seconds: seconds(one.started_at, until.get(one.stable) ?? as_of),
  }))
}

const newestFirst = (a: OpenBreak, b: OpenBreak): number =>
  b.started_at.getTime() - a.started_at.getTime() ||
  b.started_block - a.started_block ||
  b.severity.localeCompare(a.severity) ||
  (a.stable < b.stable ? 1 : -1)

/**
 * The breaks of all stables that were in progress at some time from `from` up to `as_of`, as known then, newest first: at most `limit`
 * of those after the key `after` that pass the filter. Each is as `pegEventsAt` has it. The number of statements does not depend on
 * how many stables or breaks there are.
 */
export async function allPegEventsAt(
  clickhouse: ClickHouseClient,
  tracks: AllTracks,
  { from, horizon, limit, after, filter = {}, ...requested }: Asked,
  options?: { signal?: QuerySignal },
): Promise<(PegEvent & { stable: string })[]> {
  if (!horizon) return []
  const as_of = requested.as_of < horizon ? requested.as_of : horizon
  const asked = { from, as_of, after }
  const [open, ended] = await Promise.all([
    tracks.list(clickhouse, { ...asked, open: true, limit: ALL }, options),
    tracks.list(clickhouse, { ...asked, open: false, limit, ...filter }, options),
  ])
  const isPassing = ({ max_deviation_micros, ...known }: PegEvent): boolean =>
    breakPasses({ ...known, max_deviation_bps: max_deviation_micros / 100 }, filter)
  const inProgress = (await openAt(clickhouse, tracks, open, as_of, options)).filter(isPassing)
  const past = ended.map((one) => ({ ...one, duration_seconds: seconds(one.started_at, one.ended_at ?? as_of) }))
  return [...inProgress, ...past]
    .sort(newestFirst)
    .slice(0, limit)
    .map(({ slot_at: _, ...one }) => one)
}
