import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import { symbolsOf } from '../stablecoins/stablecoins.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS } from './buckets.js'
import { EDGES, MIN_OBSERVATIONS, SILENCES, WEEK_BEFORE } from './scores.js'
import { EXTREMES } from './tails.js'

/** Days whose windows of the same hour say how often an edge is active at that hour. */
const HOUR_DAYS = 28

const HOURS_BEFORE = `scored - ${HOUR_DAYS * DAY_SECONDS}`

/**
 * The observations that a window of an edge is compared with. The logarithm of a volume is ln of it in 1e-6 USD, where 0
 * counts as 1, rounded to millionths: so sums and medians are integers, and volumes that differ by less than a millionth
 * are equal. That of a number of transactions likewise. All is 0 if there is no observation.
 */
const Sample = z.object({
  observations: z.int(),
  /** Twice the median of the logarithms of the observations, in millionths. */
  median_twice: z.int(),
  /** Of the distances of these logarithms from it: four times their median, and twice their sum, in millionths. */
  distance_four_times: z.int(),
  distances_twice: z.int(),
  /** Observations with at least, and with at most, the window's volume, where a difference of 2 % is none. */
  at_least: z.int(),
  at_most: z.int(),
  /** The largest and the smallest logarithms of the observations, the extreme first, in millionths. */
  largest: z.array(z.int()),
  smallest: z.array(z.int()),
  /** The correlation of each logarithm with that of the observation before; 0 if all are equal. */
  correlation: z.number(),
  /** As of the volumes, of the numbers of transactions. */
  tx_median_twice: z.int(),
  tx_distance_four_times: z.int(),
  tx_distances_twice: z.int(),
})
export type Sample = z.infer<typeof Sample>

const Observed = z.object({
  observed_micros: integerText,
  /** The logarithm of the volume, in millionths. */
  observed_log: z.int(),
  tx_count: z.int(),
  tx_count_log: z.int(),
  /** Whether the window has a flow, and one with a value. */
  is_active: z.boolean(),
  is_valued: z.boolean(),
})

/** An edge in one window, and what its history says about it: the sample is that of its baseline. */
export const EdgeWindow = z.object({
  from: z.string(),
  to: z.string(),
  from_address: z.string(),
  to_address: z.string(),
  ...Observed.shape,
  ...Sample.shape,
  /** Whether all of the baseline is read: the week before, or the time since the edge's first flow. */
  is_read: z.boolean(),
  /** Windows of the baseline whose volume is known. */
  baseline_windows: z.int(),
  /** Windows of the window's hour in the four weeks before it, and those of them with a flow; 0 without these weeks. */
  hour_windows: z.int(),
  hour_active: z.int(),
  /** Those with a flow, if they are enough for a score. */
  hour: Sample.nullable(),
  /** As in `FlowScore`, of a window without a flow if the week up to the last flow has the observations; else 0. */
  silent_windows: z.int(),
  usual_windows: z.int(),
  usual_active: z.int(),
  /** The longest silences of that week, the longest first, in windows; those of no window included. */
  longest_silences: z.array(z.int()),
  /** Whether all of that week is read. */
  is_silence_read: z.boolean(),
})
export type EdgeWindow = z.infer<typeof EdgeWindow>

/** Volumes whose logarithms differ by no more count as equal: the exchange bounds prices to 2 %, so a price alone can do that. */
export const EQUAL_WITHIN = 20_000

const logOf = (amount: string): string => `toInt32(floor(log(greatest(toFloat64(${amount}), 1.)) * 1000000 + 0.5))`

const Params = z.object({ window_start: z.date() })

/** The windows that edges had their first flow in, up to the scored one; in unix seconds. */
const edgeStarts = defineQuery({
  name: 'edge_starts',
  params: Params.extend({ read_since: z.int().nonnegative() }),
  row: z.object({
    edge: z.string(),
    from_address: z.string(),
    to_address: z.string(),
    first: z.int(),
    is_new: z.boolean(),
  }),
  sql: `
    SELECT toString(edge) AS edge, from_token AS from_address, to_token AS to_address, toUnixTimestamp(first_window) AS first,
           is_new::Bool AS is_new
    FROM (${EDGES}) WHERE first_window <= {window_start: DateTime('UTC')}`,
})

/** Twice the median of a sorted array. */
const medianTwice = (sorted: string): string =>
  `${sorted}[intDiv(length(${sorted}) + 1, 2)] + ${sorted}[intDiv(length(${sorted}), 2) + 1]`

/** The distances of the logarithms in a sorted array from their median, the least first; twice. */
const distancesTwice = (sorted: string, middleTwice: string): string =>
  `arraySort(arrayMap(one -> abs(2 * one - ${middleTwice}), ${sorted}))`

const OfWindows = z.object({ ...Observed.shape, ...Sample.shape, unknown: z.int() })

/** The scored window, the other windows that are `within`, and how many of those are unknown. */
const windowsWithin = (name: string, within: string) =>
  defineQuery({
    name,
    params: Params,
    row: OfWindows.extend({ edge: z.string() }),
    sql: `
    WITH {window_start: DateTime('UTC')} AS scored, ${logOf('observed')} AS observed_log,
         ${medianTwice('logs')} AS middle_twice, ${distancesTwice('logs', 'middle_twice')} AS distances,
         ${medianTwice('tx_logs')} AS tx_middle_twice, ${distancesTwice('tx_logs', 'tx_middle_twice')} AS tx_distances,
         arrayMap(volume -> volume - arrayAvg(series), series) AS centred
    SELECT toString(edge) AS edge, toString(observed) AS observed_micros, observed_log, toUInt32(transactions) AS tx_count,
           ${logOf('transactions')} AS tx_count_log, is_active::Bool AS is_active, is_valued::Bool AS is_valued, toUInt32(unknown) AS unknown,
           toUInt32(length(logs)) AS observations, toInt32(middle_twice) AS median_twice,
           toInt32(${medianTwice('distances')}) AS distance_four_times, toFloat64(arraySum(distances)) AS distances_twice,
           toUInt32(arrayCount(volume -> volume >= observed_log - ${EQUAL_WITHIN}, logs)) AS at_least,
           toUInt32(arrayCount(volume -> volume <= observed_log + ${EQUAL_WITHIN}, logs)) AS at_most,
           arraySlice(arrayReverse(logs), 1, ${EXTREMES}) AS largest, arraySlice(logs, 1, ${EXTREMES}) AS smallest,
           if(empty(logs) OR logs[1] = logs[-1], 0, arraySum((volume, next) -> volume * next, arrayPopBack(centred), arrayPopFront(centred))
                                                    / arraySum(volume -> volume * volume, centred)) AS correlation,
           toInt32(tx_middle_twice) AS tx_median_twice, toInt32(${medianTwice('tx_distances')}) AS tx_distance_four_times,
           toFloat64(arraySum(tx_distances)) AS tx_distances_twice
    FROM
    (
        SELECT edge, sumIf(volume_micros, is_scored) AS observed, sumIf(transaction_count, is_scored) AS transactions,
               countIf(is_scored) > 0 AS is_active,
               countIf(is_scored AND has_value) > 0 AS is_valued, countIf(NOT is_scored AND NOT has_value) AS unknown,
               arrayMap(observation -> observation.2, arraySort(groupArrayIf((window_start, ${logOf('volume_micros')}), NOT is_scored AND has_value))) AS series,
               arraySort(series) AS logs, arraySort(groupArrayIf(${logOf('transaction_count')}, NOT is_scored AND has_value)) AS tx_logs
        FROM
        (
            SELECT edge, window_start, volume_micros, transaction_count, window_start = scored AS is_scored, flow_count > unvalued_count AS has_value
            FROM flow_buckets FINAL
            WHERE ${within}
        )
        GROUP BY edge
    )`,
  })

/** The week before. */
const weeksOfEdges = windowsWithin('edge_weeks', `window_start >= ${WEEK_BEFORE} AND window_start <= scored`)

/** The windows of four weeks that begin in the same hour of the day. */
const hoursOfEdges = windowsWithin(
  'edge_hours',
  `window_start IN
            (
                SELECT toStartOfHour(scored) - number * ${DAY_SECONDS} + arrayJoin(range(0, 3600, ${FLOW_WINDOW_SECONDS})) AS at
                FROM numbers(${HOUR_DAYS + 1}) WHERE at >= ${HOURS_BEFORE} AND at <= scored
            )`,
)

const NONE: z.output<typeof OfWindows> = {
  observed_micros: '0',
  observed_log: 0,
  tx_count: 0,
  tx_count_log: 0,
  is_active: false,
  is_valued: false,
  unknown: 0,
  observations: 0,
  median_twice: 0,
  distance_four_times: 0,
  distances_twice: 0,
  at_least: 0,
  at_most: 0,
  largest: [],
  smallest: [],
  correlation: 0,
  tx_median_twice: 0,
  tx_distance_four_times: 0,
  tx_distances_twice: 0,
}

/** The silences of edges, and the week before each; in unix seconds. */
const silencesOfEdges = defineQuery({
  name: 'edge_silences',
  params: Params,
  row: z.object({
    edge: z.string(),
    silent: z.int(),
    last: z.int(),
    since: z.int(),
    base_active: z.int(),
    first_of_base: z.int(),
    longest_steps: z.array(z.int()),
  }),
  sql: `
    WITH {window_start: DateTime('UTC')} AS scored
    SELECT toString(edge) AS edge, silent, toUnixTimestamp(last) AS last, toUnixTimestamp(since) AS since,
           toUInt32(base_active) AS base_active, toUnixTimestamp(first_of_base) AS first_of_base,
           arraySlice(arrayReverseSort(arrayPopFront(steps)), 1, ${EXTREMES})::Array(UInt32) AS longest_steps
    FROM (${SILENCES})`,
})

const windowsBetween = (from: number, to: number): number => (to - from) / FLOW_WINDOW_SECONDS

/** What is published of a silence; without one, all counts are 0. The week starts with the edge's first flow if that is later. */
function silenceOf(
  silence: Omit<Awaited<ReturnType<typeof silencesOfEdges>>[number], 'edge'> | undefined,
  first: number,
  isReadFrom: (instant: number) => boolean,
) {
  if (!silence)
    return {
      silent_windows: 0,
      longest_silences: [],
      usual_windows: 0,
      usual_active: 0,
      is_silence_read: isReadFrom(0),
    }
  const { silent, last, since, base_active, first_of_base, longest_steps } = silence
  const start = Math.max(first, since)
  const silences = longest_steps.map((step) => step / FLOW_WINDOW_SECONDS - 1)
  return {
    silent_windows: silent,
    longest_silences: [windowsBetween(start, first_of_base), ...silences].sort((a, b) => b - a).slice(0, EXTREMES),
    usual_windows: windowsBetween(start, last) + 1,
    usual_active: base_active,
    is_silence_read: isReadFrom(since),
  }
}

/**
 * Every edge that had its first flow by the end of the 15 minutes from `window_start`, a multiple of 15 minutes; in no
 * order. `read_since` as in `flowZScores`. Reads the buckets of a week, those of the same hour in four weeks, and of the edges without a flow in the window
 * another week.
 */
export async function edgeWindows(
  clickhouse: ClickHouseClient,
  { window_start, read_since }: { window_start: Date; read_since: number },
  options?: ReadOptions,
): Promise<EdgeWindow[]> {
  const [edges, weeks, hours, silences] = await Promise.all([
    edgeStarts(clickhouse, { window_start, read_since }, options),
    weeksOfEdges(clickhouse, { window_start }, options).then(byEdge),
    hoursOfEdges(clickhouse, { window_start }, options).then(byEdge),
    silencesOfEdges(clickhouse, { window_start }, options).then(byEdge),
  ])
  const tokens = [...new Set(edges.flatMap(({ from_address, to_address }) => [from_address, to_address]))]
  const symbols = await inParts(tokens, (stables) => symbolsOf(clickhouse, { stables }, options))
  const symbolOf = new Map(symbols.map(({ address, symbol }) => [address, symbol]))
  const scored = window_start.getTime() / 1000
  const [weekBefore, hoursBefore] = [scored - WEEK_SECONDS, scored - HOUR_DAYS * DAY_SECONDS]
  return edges.map(({ edge, from_address, to_address, first, is_new }) => {
    const isReadFrom = (instant: number): boolean => is_new || (first <= instant && read_since <= instant)
    const { unknown, ...week } = weeks.get(edge) ?? NONE
    const hour = hours.get(edge) ?? NONE
    const isByHour = first <= hoursBefore && isReadFrom(hoursBefore)
    return {
      from: symbolOf.get(from_address) || from_address,
      to: symbolOf.get(to_address) || to_address,
      from_address,
      to_address,
      ...week,
      is_read: isReadFrom(weekBefore),
      baseline_windows: windowsBetween(Math.max(first, weekBefore), scored) - unknown,
      hour_windows: isByHour ? (HOUR_DAYS * 3600) / FLOW_WINDOW_SECONDS - hour.unknown : 0,
      hour_active: isByHour ? hour.observations : 0,
      hour: isByHour && hour.observations >= MIN_OBSERVATIONS ? Sample.parse(hour) : null,
      ...silenceOf(silences.get(edge), first, isReadFrom),
    }
  })
}

const byEdge = <Row extends { edge: string }>(rows: readonly Row[]): Map<string, Omit<Row, 'edge'>> =>
  new Map(rows.map(({ edge, ...row }) => [edge, row]))
