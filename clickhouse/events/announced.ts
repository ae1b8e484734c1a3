import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { afterParts, FlowAnomaly, FlowAnomalyKey, NEWEST_ANOMALY } from '../flows/anomalies.js'
import { FLOW_WINDOW_SECONDS } from '../flows/buckets.js'
import { KnownAt } from '../jobs/publications.js'
import {
  type BreakFilter,
  BreakFilterParams,
  breakCondition,
  Direction,
  Severity,
  type Track,
} from '../peg/break-filter.js'
import { afterBreakParts, NEWEST_PEG_EVENT, type PegEvent, PegEventKey } from '../peg/breaks.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { BREAK_KINDS } from './types.js'

/**
 * The condition under which an event of the log stood at the instant of the parameter `known_at`: it had been announced,
 * and not been taken back. The engine keeps what was taken back beside the log, as long as it is asked for in these words (clickhouse/schema/0011_events.sql).
 */
const STOOD = `
  recorded_at <= {known_at: DateTime64(3)}
  AND id NOT IN (SELECT subject FROM events WHERE type = 'event.retracted' GROUP BY type, subject HAVING min(recorded_at) <= {known_at: DateTime64(3)})`

const anomalyData = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(FlowAnomaly)

const announcedAnomalyRows = recentFirst(
  defineQuery({
    name: 'announced_anomalies',
    params: z
      .object({
        as_of: z.date(),
        known_at: z.date(),
        limit: z.int(),
        after: FlowAnomalyKey.default(NEWEST_ANOMALY),
        recent_only: z.boolean(),
      })
      .transform(afterParts),
    row: z.object({ data: anomalyData }).transform(({ data }) => data),
    sql: `
    WITH toUnixTimestamp(occurred_at) - ${FLOW_WINDOW_SECONDS} AS window_start, abs(JSONExtractFloat(data, 'z_score')) AS distance
    SELECT data
    FROM events
    WHERE type = 'flow_anomaly.detected' AND ${STOOD} AND window_start <= toUnixTimestamp({as_of: DateTime})
      AND ${isRecent('occurred_at', 'as_of')}
      AND window_start <= {after_window: UInt32}
      AND (window_start < {after_window: UInt32} OR (-distance, stables[1], stables[2]) > (-{after_distance: Float64}, {after_from: String}, {after_to: String}))
    ORDER BY window_start DESC, distance DESC, stables[1], stables[2]
    LIMIT {limit: UInt32}`,
  }),
  (rows, { limit }) => rows.length === limit,
)

type AnnouncedRequest<Key> = { as_of: Date; known_at: Date; limit: number; after?: Key | undefined }

/** When an entry of a list was announced; null if it has not been. */
export type Announced = { published_at: Date | null }

/**
 * The anomalies that had been announced by `known_at` and not been taken back by then, of windows that begin at or before
 * `as_of`: in the order of the list of anomalies, at most `limit` of those after the key `after`.
 */
export async function announcedAnomalies(
  clickhouse: ClickHouseClient,
  request: AnnouncedRequest<FlowAnomalyKey>,
  options?: { signal?: QuerySignal },
): Promise<FlowAnomaly[]> {
  return announcedAnomalyRows(clickhouse, request, options)
}

const announcedBreakRows = defineQuery({
  name: 'announced_peg_breaks',
  params: z
    .object({
      stable: z.string(),
      as_of: z.date(),
      known_at: z.date(),
      limit: z.int(),
      after: PegEventKey.default(NEWEST_PEG_EVENT),
      kind: z.enum(BREAK_KINDS),
      ...BreakFilterParams,
    })
    .transform(afterBreakParts),
  row: z.object({
    severity: Severity,
    started_at: z.int(),
    started_block: z.int(),
    direction: Direction,
    ended_at: dateTime.nullable(),
    ended_block: z.int().nullable(),
    max_deviation_bps: z.number(),
    standing_tokens: z.int().nullable(),
  }),
  // The engine may evaluate the outermost condition for other types of events too, whose subjects have no such parts.
  sql: `
    SELECT parts[2] AS severity, toUInt32OrZero(parts[3]) AS started_at, toUInt32OrZero(parts[4]) AS started_block,
           if(ended = '', NULL, JSONExtractString(ended, 'ended_at')) AS ended_at,
           if(ended = '', NULL, JSONExtract(ended, 'ended_block', 'UInt32')) AS ended_block,
           JSONExtractString(if(ended = '', started, ended), 'direction') AS direction,
           JSONExtractFloat(if(ended = '', started, ended), 'max_deviation_bps') AS max_deviation_bps,
           JSONExtract(if(ended = '', started, ended), 'standing_tokens', 'Nullable(UInt32)') AS standing_tokens
    FROM
    (
        SELECT splitByChar(':', subject) AS parts,
               argMaxIf(data, sequence_number, endsWith(type, '.started')) AS started,
               argMaxIf(data, sequence_number, endsWith(type, '.ended')) AS ended
        FROM events
        WHERE type IN (concat({kind: String}, '.started'), concat({kind: String}, '.ended')) AND has(stables, {stable: String})
          AND occurred_at <= {as_of: DateTime} AND ${STOOD}
        GROUP BY subject
        HAVING started != ''
    )
    WHERE (started_at, started_block, severity = 'severe') < ({after_time: UInt32}, {after_block: UInt32}, {after_severity: String} = 'severe')
      AND ${breakCondition({
        severity: 'severity',
        max_deviation_bps: 'max_deviation_bps',
        duration_seconds:
          "if(ended = '', toUnixTimestamp({as_of: DateTime}) - started_at, JSONExtractInt(ended, 'duration_seconds'))",
        standing_tokens: 'standing_tokens',
      })}
    ORDER BY started_at DESC, started_block DESC, severity DESC
    LIMIT {limit: UInt32}`,
})

/**
 * A stable's breaks on a track that had been announced by `known_at` and not been taken back by then, as of `as_of`: newest
 * first, at most `limit` of those after the key `after` that pass the filter. The largest distance of one without an
 * announced end is that of its announcement, and it lasts until `as_of`.
 */
export async function announcedPegBreaks(
  clickhouse: ClickHouseClient,
  {
    track,
    filter = {},
    ...request
  }: AnnouncedRequest<PegEventKey> & { track: Track; stable: string; filter?: BreakFilter },
  options?: { signal?: QuerySignal },
): Promise<PegEvent[]> {
  const rows = await announcedBreakRows(clickhouse, { ...request, kind: BREAK_KINDS[track], ...filter }, options)
  return rows.map(({ started_at, max_deviation_bps, ...row }) => {
    const until = row.ended_at ?? request.as_of
    return {
      ...row,
      started_at: new Date(started_at * 1000),
      max_deviation_micros: Math.round(max_deviation_bps * 100),
      duration_seconds: until.getTime() / 1000 - started_at,
    }
  })
}

/** When each of these subjects was last announced, of what stands; without those that were not. */
const announcedAt = defineQuery({
  name: 'announced_at',
  params: z.object({ subjects: z.array(z.string()), known_at: KnownAt }),
  row: z.object({ subject: z.string(), published_at: dateTime }),
  sql: `
    SELECT subject, max(recorded_at) AS published_at FROM events
    WHERE subject IN {subjects: Array(String)} AND type != 'event.retracted' AND ${STOOD}
    GROUP BY subject`,
})

/** The rows with the time at which each was last announced by `known_at`, or by now if that is null; `subjectOf` is the subject of the events about a row. */
export async function withAnnounced<Row>(
  clickhouse: ClickHouseClient,
  rows: readonly Row[],
  subjectOf: (row: Row) => string,
  { known_at }: { known_at: Date | null },
  options?: { signal?: QuerySignal },
): Promise<(Row & Announced)[]> {
  if (rows.length === 0) return []
  const announcements = await announcedAt(clickhouse, { subjects: rows.map(subjectOf), known_at }, options)
  const times = new Map(announcements.map(({ subject, published_at }) => [subject, published_at]))
  return rows.map((row) => ({ ...row, published_at: times.get(subjectOf(row)) ?? null }))
}
