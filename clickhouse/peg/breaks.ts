import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineOptionalRow, defineQuery, onlyColumn } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { byStable, together } from '../store/together.js'
import { dateTime } from '../store/values.js'
import {
  type BreakFilter,
  BreakFilterParams,
  breakCondition,
  breakPasses,
  Direction,
  Severity,
} from './break-filter.js'
import { newestSample } from './samples.js'
import { DEVIATION } from './sums.js'

/**
 * An excursion from the peg as known at one slot; the columns are described in clickhouse/schema. Times in unix seconds.
 */
export const PegExcursion = z.object({
  stable: z.string(),
  severity: Severity,
  started_at: z.int(),
  started_block: z.int(),
  direction: Direction,
  confirmed_at: z.int().nullable(),
  ended_at: z.int().nullable(),
  ended_block: z.int().nullable(),
  max_deviation_micros: z.int(),
  /** For how many tokens it stood when it was confirmed; null where that was not measured, and before. */
  standing_tokens: z.int().nullable(),
})
export type PegExcursion = z.infer<typeof PegExcursion>

type PegEventRow = PegExcursion & { revision: number; slot_at: number; is_deleted: 0 | 1 }

/**
 * A subquery for the excursions that any slot from `instant`, an expression, on has written. They include all that were
 * in progress then, because every slot writes those. The cost does not grow with the number of earlier excursions. The
 * statement must end with PEG_EVENTS_SINCE_SETTINGS.
 */
export const pegEventsSince = (instant: string, table: BreakTable = 'peg_events'): string => `
  SELECT * FROM ${table} FINAL
  WHERE (stable, severity, started_at, started_block) IN
        (SELECT stable, severity, started_at, started_block FROM ${table} WHERE slot_at >= ${instant})`

/**
 * For statements with `pegEventsSince`. The skip index finds only keys: applied to the rows as well, it might skip a newer
 * row of a key, and FINAL would then return an older one.
 */
export const PEG_EVENTS_SINCE_SETTINGS = 'SETTINGS use_skip_indexes_if_final = 0'

/**
 * Writes excursions as slots knew them. A row replaces the rows of the same excursion from older slots or revisions. A repeat
 * replaces the rows with the same: it has a token of its own, because an engine that is killed between a token and its rows
 * would take the repeat for a duplicate.
 */
export function insertPegEvents(clickhouse: ClickHouseClient, rows: readonly PegEventRow[]): Promise<void> {
  return insertRows(clickhouse, 'peg_events', rows, randomUUID())
}

/** The position at which a page of events, newest first, continues: after the event with these values. */
export const PegEventKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.int().min(0), Severity])
export type PegEventKey = z.infer<typeof PegEventKey>

/** Sorts before every event: the start of the first page. */
export const NEWEST_PEG_EVENT: PegEventKey = [END_OF_TIME, Number.MAX_SAFE_INTEGER, 'severe']

/** A break of a stable as a list has it. */
export const ListedBreak = z.object({
  stable: z.string(),
  severity: Severity,
  started_at: dateTime,
  started_block: z.int(),
  direction: Direction,
  ended_at: dateTime.nullable(),
  ended_block: z.int().nullable(),
  max_deviation_micros: z.int(),
  standing_tokens: z.int().nullable(),
})

/** What a table has of a break's `standing_tokens`: it is not measured of agreed breaks, which larger sizes have judged already. */
const STANDING = { peg_events: 'standing_tokens', agreed_breaks: 'CAST(NULL AS Nullable(UInt32))' } as const

/** The tables of breaks. */
export type BreakTable = keyof typeof STANDING

/** SQL: the columns of `ListedBreak` of a row of `events`, as known at the parameter `as_of`. */
export const listedColumns = (
  table: BreakTable,
): string => `stable, severity, started_at, toUInt32(started_block) AS started_block, direction,
           if(events.ended_at <= {as_of: DateTime}, events.ended_at, NULL) AS ended_at,
           if(events.ended_at <= {as_of: DateTime}, toUInt32(events.ended_block), NULL) AS ended_block,
           max_deviation_micros, ${STANDING[table]} AS standing_tokens`

/** SQL: whether a row of `events` was in progress at the parameter `as_of`. */
export const IS_OPEN = '(events.ended_at IS NULL OR events.ended_at > {as_of: DateTime})'

/** SQL: whether a row of `events` that had ended by then passes the filter. */
export const isWanted = (table: BreakTable): string =>
  breakCondition({
    severity: 'toString(severity)',
    max_deviation_bps: 'max_deviation_micros / 100',
    duration_seconds: 'toUnixTimestamp(events.ended_at) - toUnixTimestamp(started_at)',
    standing_tokens: STANDING[table],
  })

const breaksIn = (table: BreakTable) =>
  defineQuery({
    name: table,
    params: z
      .object({
        stables: z.array(z.string()),
        as_of: z.date(),
        limit: z.int(),
        after: PegEventKey.default(NEWEST_PEG_EVENT),
        ...BreakFilterParams,
      })
      .transform(({ after: [after_time, after_block, after_severity], ...rest }) => ({
        ...rest,
        after_time,
        after_block,
        after_severity,
      })),
    row: ListedBreak,
    sql: `
    SELECT ${listedColumns(table)}
    FROM ${table} AS events FINAL
    WHERE stable IN {stables: Array(String)} AND confirmed_at <= {as_of: DateTime} AND (${IS_OPEN} OR ${isWanted(table)})
      AND (toUnixTimestamp(started_at), events.started_block, severity) < ({after_time: UInt32}, {after_block: UInt64}, {after_severity: Enum8('mild' = 1, 'severe' = 2)})
    ORDER BY events.started_at DESC, events.started_block DESC, severity DESC
    LIMIT {limit: UInt32} BY stable`,
  })

/**
 * A stable's breaks in a table as known at `as_of`, newest first, at most `limit` of those after the key `after`: those in progress at
 * `as_of`, whose stored maximum may have been reached later, and those of the others that pass the filter.
 */
export const breakList = (table: BreakTable) => {
  const read = breaksIn(table)
  return together(table, async (clickhouse, asked: Parameters<typeof read>[1], options) =>
    byStable(await read(clickhouse, asked, options)),
  )
}

/**
 * The largest distance of a stable's price from 1, in millionths, from the sample (`started_at`, `started_block`) up to
 * `to`, both included; null without a price. Whole minutes are read from minute states, so that a long period costs
 * little.
 */
export const maxPegDeviation = defineOptionalRow({
  name: 'max_peg_deviation',
  params: z.object({ stable: z.string(), started_at: z.date(), started_block: z.int(), to: z.date() }),
  row: onlyColumn('max_deviation_micros', z.int()),
  sql: `
    WITH toStartOfMinute({started_at: DateTime} + 59) AS first_minute_end, toStartOfMinute({to: DateTime}) AS last_minute_end
    SELECT max(distance) AS max_deviation_micros
    FROM
    (
        SELECT toUInt32(greatest(-deviation_min, deviation_max)) AS distance
        FROM peg_minutes
        WHERE stable = {stable: String} AND minute_end > first_minute_end AND minute_end <= last_minute_end
          AND deviation_min IS NOT NULL
        UNION ALL
        SELECT toUInt32(abs(${DEVIATION}))
        FROM peg_samples
        WHERE stable = {stable: String} AND sell_micros IS NOT NULL
          AND block_time >= {started_at: DateTime} AND block_time <= {to: DateTime}
          AND (block_time <= first_minute_end OR block_time > last_minute_end)
          AND (block_time, block_number) >= ({started_at: DateTime}, {started_block: UInt64})
    )
    HAVING count() > 0`,
})

/** A set of tracks of breaks. */
export type BreakTracks = {
  list: ReturnType<typeof breakList>
  /**
   * The largest distance from 1, in millionths, of the prices that the tracks follow, in a break in progress from its first
   * sample up to `to`; null without a price.
   */
  maximum: (
    clickhouse: ClickHouseClient,
    since: { stable: string; severity: PegEvent['severity']; started_at: Date; started_block: number; to: Date },
    options?: { signal?: AbortSignal },
  ) => Promise<number | null>
}

/** The tracks that are known as mild and severe. */
export const PUBLISHED_TRACKS: BreakTracks = { list: breakList('peg_events'), maximum: maxPegDeviation }

/** Most breaks of a stable that can be in progress at once: breaks of one severity never overlap. */
const MOST_ONGOING = Severity.options.length

type PegEventsRequest = {
  stable: string
  as_of: Date | null
  /** The detector's last completed slot; null before its first. */
  horizon: Date | null
  limit: number
  after?: PegEventKey | undefined
  filter?: BreakFilter
}

/** A peg break as known at some instant; `duration_seconds` is how long it has lasted by then. */
export type PegEvent = {
  severity: 'mild' | 'severe'
  started_at: Date
  started_block: number
  direction: Direction
  ended_at: Date | null
  ended_block: number | null
  duration_seconds: number
  max_deviation_micros: number
  standing_tokens: number | null
}

/**
 * A stable's breaks on a set of tracks as known at `as_of`, or now if that is null, newest first: at most `limit` of those after the
 * key `after` that pass the filter. Only breaks up to `horizon` are known. A break in progress lasts until the
 * newest sample.
 */
export async function pegEventsAt(
  clickhouse: ClickHouseClient,
  tracks: BreakTracks,
  { stable, horizon, limit, after, filter = {}, ...requested }: PegEventsRequest,
  options?: { signal?: AbortSignal },
): Promise<PegEvent[]> {
  if (!horizon) return []
  const as_of = requested.as_of !== null && requested.as_of < horizon ? requested.as_of : horizon
  const [events, newest] = await Promise.all([
    tracks.list(clickhouse, { stable, as_of, limit: limit + MOST_ONGOING, after, ...filter }, options),
    newestSample(clickhouse, { stable, as_of }, options),
  ])
  const seconds = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1000
  const known = await Promise.all(
    events.map(async (event) => {
      const { severity, started_at, started_block, ended_at } = event
      if (ended_at !== null) return { ...event, duration_seconds: seconds(started_at, ended_at) }
      const until = newest?.block_time ?? as_of
      const since = { stable, severity, started_at, started_block, to: until }
      const max_deviation_micros = (await tracks.maximum(clickhouse, since, options)) ?? event.max_deviation_micros
      return { ...event, max_deviation_micros, duration_seconds: seconds(started_at, until) }
    }),
  )
  const isWanted = ({ max_deviation_micros, ...event }: PegEvent): boolean =>
    breakPasses({ ...event, max_deviation_bps: max_deviation_micros / 100 }, filter)
  return known.filter(isWanted).slice(0, limit)
}
