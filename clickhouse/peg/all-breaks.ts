import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { type BreakFilter, BreakFilterParams, breakPasses, Severity, Track } from './break-filter.js'
import { IS_OPEN, IS_WANTED, LISTED_COLUMNS, ListedBreak, type PegEvent } from './breaks.js'
import { BREAKS_SINCE_SETTINGS, breaksSince } from './excursions.js'
import { largestDeviations } from './largest-deviations.js'
import { newestSamples } from './samples.js'

/** The position at which a page of the breaks of all stables, newest first, continues: after the break with these values. */
export const AnyBreakKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.int().min(0), Severity, z.string().max(42)])
export type AnyBreakKey = z.infer<typeof AnyBreakKey>

/** Sorts before every break. */
const NEWEST: AnyBreakKey = [END_OF_TIME, Number.MAX_SAFE_INTEGER, 'severe', '~']
/** More breaks than can be in progress at once. */
const ALL = 0xffff_ffff

/** A break as it is stored, and the slot that wrote it: what it says of a break in progress is true up to there. */
const StoredBreak = ListedBreak.extend({ slot_at: dateTime })
type StoredBreak = z.infer<typeof StoredBreak>

/**
 * The breaks of all stables on a track: with `open` those in progress at `as_of`, and else those that ended after `from` and by `as_of`
 * and pass the filter. Newest first, at most `limit` of those after the key `after`. The cost grows with the time since `from`,
 * not with that before.
 */
const breaksOfAll = defineQuery({
  name: 'all_peg_breaks',
  params: z
    .object({
      track: Track,
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
    SELECT ${LISTED_COLUMNS}, events.slot_at AS slot_at
    FROM (${breaksSince('least({from: DateTime}, {as_of: DateTime})')}) AS events
    WHERE confirmed_at <= {as_of: DateTime}
      AND if({open: Bool}, ${IS_OPEN}, NOT ${IS_OPEN} AND events.ended_at > {from: DateTime} AND ${IS_WANTED})
      AND (toUnixTimestamp(started_at), events.started_block, severity, toString(stable)) < ({after_time: UInt32}, {after_block: UInt64}, {after_severity: Enum8('mild' = 1, 'severe' = 2)}, {after_stable: String})
    ORDER BY events.started_at DESC, events.started_block DESC, severity DESC, stable DESC
    LIMIT {limit: UInt32}
    ${BREAKS_SINCE_SETTINGS}`,
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

type Asked = {
  track: Track
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
  open: readonly StoredBreak[],
  { track, as_of }: { track: Track; as_of: Date },
  options?: { signal?: QuerySignal },
): Promise<(StoredBreak & { duration_seconds: number })[]> {
  if (open.length === 0) return []
  const stables = [...new Set(open.map(({ stable }) => stable))]
  // What the slot at the instant wrote is known as of it.
  const later = open.filter(({ slot_at }) => slot_at.getTime() !== as_of.getTime())
  const [sampled, largest] = await Promise.all([
    newestSamples(clickhouse, { as_of, stables }, options),
    largestDeviations(clickhouse, { track, breaks: later, to: as_of }, options),
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

type ListedKey = Pick<StoredBreak, 'stable' | 'severity' | 'started_at' | 'started_block'>

const newestFirst = (a: ListedKey, b: ListedKey): number =>
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
  { track, from, horizon, limit, after, filter = {}, ...requested }: Asked,
  options?: { signal?: QuerySignal },
): Promise<(PegEvent & { stable: string })[]> {
  if (!horizon) return []
  const as_of = requested.as_of < horizon ? requested.as_of : horizon
  const range = { track, from, as_of, after }
  const [open, ended] = await Promise.all([
    breaksOfAll(clickhouse, { ...range, open: true, limit: ALL }, options),
    breaksOfAll(clickhouse, { ...range, open: false, limit, ...filter }, options),
  ])
  const isPassing = ({ max_deviation_micros, ...known }: PegEvent): boolean =>
    breakPasses({ ...known, max_deviation_bps: max_deviation_micros / 100 }, filter)
  const inProgress = (await openAt(clickhouse, open, { track, as_of }, options)).filter(isPassing)
  const past = ended.map((one) => ({ ...one, duration_seconds: seconds(one.started_at, one.ended_at ?? as_of) }))
  return [...inProgress, ...past]
    .sort(newestFirst)
    .slice(0, limit)
    .map(({ slot_at: _, ...one }) => one)
}
