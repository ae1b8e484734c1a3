import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { byStable, together } from '../store/together.js'
import { dateTime } from '../store/values.js'
import {
  type BreakFilter,
  BreakFilterParams,
  breakCondition,
  breakPasses,
  Direction,
  Severity,
  Track,
} from './break-filter.js'
import { largestDeviations } from './largest-deviations.js'
import { newestSample } from './samples.js'

/** The position at which a page of events, newest first, continues: after the event with these values. */
export const PegEventKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.int().min(0), Severity])
export type PegEventKey = z.infer<typeof PegEventKey>

/** Sorts before every event: the start of the first page. */
export const NEWEST_PEG_EVENT: PegEventKey = [END_OF_TIME, Number.MAX_SAFE_INTEGER, 'severe']

/** The parts of a key in the parameter `after` as parameters of their own. */
export const afterBreakParts = <Params extends { after: PegEventKey }>({
  after: [after_time, after_block, after_severity],
  ...rest
}: Params) => ({ ...rest, after_time, after_block, after_severity })

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

/** SQL: the columns of `ListedBreak` of a row of `events`, as known at the parameter `as_of`. */
export const LISTED_COLUMNS = `stable, severity, started_at, toUInt32(started_block) AS started_block, direction,
           if(events.ended_at <= {as_of: DateTime}, events.ended_at, NULL) AS ended_at,
           if(events.ended_at <= {as_of: DateTime}, toUInt32(events.ended_block), NULL) AS ended_block,
           max_deviation_micros, standing_tokens`

/** SQL: whether a row of `events` was in progress at the parameter `as_of`. */
export const IS_OPEN = '(events.ended_at IS NULL OR events.ended_at > {as_of: DateTime})'

/** SQL: whether a row of `events` that had ended by then passes the filter. */
export const IS_WANTED = breakCondition({
  severity: 'toString(severity)',
  max_deviation_bps: 'max_deviation_micros / 100',
  duration_seconds: 'toUnixTimestamp(events.ended_at) - toUnixTimestamp(started_at)',
  standing_tokens: 'standing_tokens',
})

const breaksOfStables = defineQuery({
  name: 'peg_breaks',
  params: z
    .object({
      track: Track,
      stables: z.array(z.string()),
      as_of: z.date(),
      limit: z.int(),
      after: PegEventKey.default(NEWEST_PEG_EVENT),
      ...BreakFilterParams,
    })
    .transform(afterBreakParts),
  row: ListedBreak,
  sql: `
    SELECT ${LISTED_COLUMNS}
    FROM peg_breaks AS events FINAL
    WHERE track = {track: String} AND stable IN {stables: Array(String)} AND confirmed_at <= {as_of: DateTime} AND (${IS_OPEN} OR ${IS_WANTED})
      AND (toUnixTimestamp(started_at), events.started_block, severity) < ({after_time: UInt32}, {after_block: UInt64}, {after_severity: Enum8('mild' = 1, 'severe' = 2)})
    ORDER BY events.started_at DESC, events.started_block DESC, severity DESC
    LIMIT {limit: UInt32} BY stable`,
})

/**
 * A stable's breaks on a track as known at `as_of`, newest first, at most `limit` of those after the key `after`: those in progress at
 * `as_of`, whose stored maximum may have been reached later, and those of the others that pass the filter.
 */
const breaksOfStable = together(
  'peg_breaks',
  async (clickhouse, asked: Parameters<typeof breaksOfStables>[1], options) =>
    byStable(await breaksOfStables(clickhouse, asked, options)),
)

/** Most breaks of a stable that can be in progress at once: breaks of one severity never overlap. */
const MOST_ONGOING = Severity.options.length

type PegEventsRequest = {
  track: Track
  stable: string
  as_of: Date | null
  /** The detector's last completed slot; null before its first. */
  horizon: Date | null
  limit: number
  after?: PegEventKey | undefined
  filter?: BreakFilter
}

/** A peg break as known at some instant; `duration_seconds` is how long it has lasted by then. */
export type PegEvent = Omit<z.infer<typeof ListedBreak>, 'stable'> & { duration_seconds: number }

/**
 * A stable's breaks on a track as known at `as_of`, or now if that is null, newest first: at most `limit` of those after the
 * key `after` that pass the filter. Only breaks up to `horizon` are known. A break in progress lasts until the
 * newest sample.
 */
export async function pegEventsAt(
  clickhouse: ClickHouseClient,
  { track, stable, horizon, limit, after, filter = {}, ...requested }: PegEventsRequest,
  options?: { signal?: AbortSignal },
): Promise<PegEvent[]> {
  if (!horizon) return []
  const as_of = requested.as_of !== null && requested.as_of < horizon ? requested.as_of : horizon
  const [events, newest] = await Promise.all([
    breaksOfStable(clickhouse, { track, stable, as_of, limit: limit + MOST_ONGOING, after, ...filter }, options),
    newestSample(clickhouse, { stable, as_of }, options),
  ])
  const until = newest?.block_time ?? as_of
  const open = events.filter(({ ended_at }) => ended_at === null)
  const breaks = open.map((event) => ({ ...event, stable }))
  const largest = await largestDeviations(clickhouse, { track, breaks, to: until }, options)
  return events
    .map((event) => ({
      ...event,
      max_deviation_micros: largest[open.indexOf(event)] ?? event.max_deviation_micros,
      duration_seconds: ((event.ended_at ?? until).getTime() - event.started_at.getTime()) / 1000,
    }))
    .filter(({ max_deviation_micros, ...event }) =>
      breakPasses({ ...event, max_deviation_bps: max_deviation_micros / 100 }, filter),
    )
    .slice(0, limit)
}
