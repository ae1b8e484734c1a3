import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { HOUR_SECONDS } from '../../process/instants.js'
import type { Ledger } from '../chain/ledger.js'
import { defineColumns, type QuerySignal } from '../store/define-query.js'
import { columnsByStable, STABLE_INDEX, together } from '../store/together.js'
import { KEPT_MS, settledFor } from './settled.js'
import { addSums, LONGEST_PEG_WINDOW, noSums, type PegSums, pegSumsOf } from './windows.js'

type Options = { signal?: QuerySignal }

/** The sums over the samples of whole minutes that end in (after, until], in unix seconds. */
type MinuteSums = (after: number, until: number) => PegSums

/** Reads what is needed of a stable for sums between `after` and `until`, which are ends of minutes. */
export type ReadMinuteSums = (
  clickhouse: ClickHouseClient,
  asked: { stable: string; after: number; until: number },
  options?: Options,
) => Promise<MinuteSums>

const extreme = z.int().nullable()

const minuteStatesOf = defineColumns({
  name: 'peg_minute_states',
  params: z.object({ stables: z.array(z.string()), after: z.int(), until: z.int() }),
  columns: {
    stable_index: z.int(),
    end: z.int(),
    quoted_count: z.int(),
    unquoted_count: z.int(),
    deviation_sum: z.int(),
    deviation_square_sum: z.int(),
    deviation_min: extreme,
    deviation_max: extreme,
    seconds_outside_10bps: z.int(),
    seconds_outside_50bps: z.int(),
  },
  sql: `
    SELECT ${STABLE_INDEX}, toUnixTimestamp(minute_end) AS end, toUInt32(quoted_count) AS quoted_count, toUInt32(unquoted_count) AS unquoted_count,
           toFloat64(deviation_sum) AS deviation_sum, toFloat64(deviation_square_sum) AS deviation_square_sum,
           deviation_min, deviation_max,
           toUInt32(seconds_outside_10bps) AS seconds_outside_10bps, toUInt32(seconds_outside_50bps) AS seconds_outside_50bps
    FROM peg_minutes
    WHERE stable IN {stables: Array(String)} AND minute_end > {after: DateTime} AND minute_end <= {until: DateTime}`,
})

/** Most minute states that are read at once. */
const MOST_STATES = 81_000
/** Most stables of which the minutes of the longest window are read at once. */
const MOST_STABLES = Math.max(Math.floor(MOST_STATES / (LONGEST_PEG_WINDOW / 60)), 1)

/**
 * The minute states of a stable in (after, until], as they are stored: a minute may have several that are not merged yet.
 * They are summed here, because the engine plans an aggregation for longer than it takes to send a week of them. The sums
 * of a minute are below 2^53: a deviation is at most 10^6, and 9,000 samples of it have squares that sum up to less.
 */
const minuteStates = together(
  'peg_minute_states',
  async (clickhouse, asked: { stables: string[]; after: number; until: number }, options) =>
    columnsByStable(await minuteStatesOf(clickhouse, asked, options), asked.stables),
  MOST_STABLES,
)
type MinuteStates = Awaited<ReturnType<typeof minuteStates>>

const MINUTES = HOUR_SECONDS / 60
/** The sums of a minute: its counts, the two sums, the extremes and the seconds outside. */
const COLUMNS = 8

/** The minutes of one hour, and their sums. */
class HourOfMinutes {
  readonly #values = new Float64Array(MINUTES * COLUMNS)
  #total: PegSums | null = null

  add(minute: number, states: MinuteStates, row: number): void {
    const values = this.#values
    const at = minute * COLUMNS
    const add = (column: number, value: number): void => {
      values[at + column] = (values[at + column] as number) + value
    }
    const [low, high] = [states.deviation_min[row] ?? null, states.deviation_max[row] ?? null]
    if (low !== null && high !== null) {
      const isFirst = values[at] === 0
      values[at + 4] = isFirst ? low : Math.min(values[at + 4] as number, low)
      values[at + 5] = isFirst ? high : Math.max(values[at + 5] as number, high)
    }
    add(0, states.quoted_count[row] as number)
    add(1, states.unquoted_count[row] as number)
    add(2, states.deviation_sum[row] as number)
    add(3, states.deviation_square_sum[row] as number)
    add(6, states.seconds_outside_10bps[row] as number)
    add(7, states.seconds_outside_50bps[row] as number)
    this.#total = null
  }

  /** The sums of the minutes from `first` to `last`, both included. */
  sums(first: number, last: number): PegSums {
    if (first > 0 || last < MINUTES - 1) return this.#sum(first, last)
    this.#total ??= this.#sum(first, last)
    return this.#total
  }

  #sum(first: number, last: number): PegSums {
    const value = (at: number, column: number): number => this.#values[at * COLUMNS + column] as number
    const whole = noSums()
    for (let at = first; at <= last; at++) {
      whole.unquoted += value(at, 1)
      if (value(at, 0) === 0) continue
      whole.quoted += value(at, 0)
      whole.sum += value(at, 2)
      whole.squares += BigInt(value(at, 3))
      whole.low = Math.min(whole.low, value(at, 4))
      whole.high = Math.max(whole.high, value(at, 5))
      whole.out10 += value(at, 6)
      whole.out50 += value(at, 7)
    }
    return pegSumsOf(whole)
  }
}

/** The end of the hour that a minute is in. */
const hourEnd = (minuteEnd: number): number => Math.ceil(minuteEnd / HOUR_SECONDS) * HOUR_SECONDS
const minuteOf = (minuteEnd: number): number => (minuteEnd - 60 - (hourEnd(minuteEnd) - HOUR_SECONDS)) / 60

/** The hours with an end from `first` to `last`, made of the states of their minutes. */
function hoursOf(states: MinuteStates): Map<number, HourOfMinutes> {
  const hours = new Map<number, HourOfMinutes>()
  for (const [row, end] of states.end.entries()) {
    const hour = hours.get(hourEnd(end)) ?? new HourOfMinutes()
    hours.set(hourEnd(end), hour)
    hour.add(minuteOf(end), states, row)
  }
  return hours
}

const NONE = new HourOfMinutes()

const summed =
  (hourAt: (end: number) => HourOfMinutes): MinuteSums =>
  (after, until) => {
    const parts: PegSums[] = []
    for (let end = hourEnd(after + 60); end - HOUR_SECONDS < until; end += HOUR_SECONDS) {
      const first = Math.max(after + 60, end - HOUR_SECONDS + 60)
      parts.push(hourAt(end).sums(minuteOf(first), minuteOf(Math.min(until, end))))
    }
    return addSums(parts)
  }

/** Reads all of it. */
export const readMinuteSums: ReadMinuteSums = async (clickhouse, asked, options) => {
  const hours = hoursOf(await minuteStates(clickhouse, asked, options))
  return summed((end) => hours.get(end) ?? NONE)
}

/** Those that a process keeps, for answers that were begun with a ledger, and the bytes that they take. */
export type KnownMinuteSums = { given: (ledger: Ledger) => ReadMinuteSums; bytes: () => number }

/** What an hour takes in memory, in bytes: its numbers, and what the engine and the cache add. */
const HOUR_BYTES = MINUTES * COLUMNS * 8 + 600

/** What the hours of a stable's longest window take, in bytes; it may begin within one. */
export const STABLE_BYTES = (LONGEST_PEG_WINDOW / HOUR_SECONDS + 1) * HOUR_BYTES

/** Most statements that read the hours which are not kept; above it, one reads those between them too. */
const MOST_RUNS = 3

/** Hours that follow each other, by the ends of the first and the last. */
type Run = { first: number; last: number }

function runsOf(ends: readonly number[]): Run[] {
  const runs: Run[] = []
  for (const end of ends) {
    const run = runs.at(-1)
    if (run?.last === end - HOUR_SECONDS) run.last = end
    else runs.push({ first: end, last: end })
  }
  const [first, last] = [runs[0]?.first, runs.at(-1)?.last]
  return runs.length > MOST_RUNS && first !== undefined && last !== undefined ? [{ first, last }] : runs
}

/**
 * Keeps hours up to the last minute of which everything is stored, up to `maxBytes`: as long as the ledger has the same
 * revision they do not change. `given` a ledger that was read before, an answer only needs to read the hours that are not
 * kept up to the last minute that it needs.
 */
export function createMinuteSums(maxBytes: number): KnownMinuteSums {
  const kept = new LRUCache<string, { hour: HourOfMinutes; settledUntil: number; revision: string }>({
    max: Math.floor(maxBytes / HOUR_BYTES),
    ttl: KEPT_MS,
  })
  return {
    bytes: () => kept.size * HOUR_BYTES,
    given:
      (ledger) =>
      async (clickhouse, { stable, after, until }, options) => {
        const storedUntil = settledFor(ledger, stable)
        // The minute in which the last sample lies may get more of them, and a rollback to it rewrites its states.
        const settledUntil = (start: number): number => Math.floor(storedUntil(start) / 60) * 60
        const hours = new Map<number, HourOfMinutes>()
        const missing: number[] = []
        for (let end = hourEnd(after + 60); end - HOUR_SECONDS < until; end += HOUR_SECONDS) {
          const known = kept.get(`${stable} ${end}`)
          if (known?.revision === ledger.revision && known.settledUntil >= Math.min(end, until))
            hours.set(end, known.hour)
          else missing.push(end)
        }
        const read = await Promise.all(
          runsOf(missing).map(async ({ first, last }) => {
            const to = Math.min(last, Math.max(until, settledUntil(last - HOUR_SECONDS)))
            return hoursOf(await minuteStates(clickhouse, { stable, after: first - HOUR_SECONDS, until: to }, options))
          }),
        )
        for (const end of missing) {
          const hour = read.map((run) => run.get(end)).find((found) => found !== undefined) ?? NONE
          hours.set(end, hour)
          const settled = Math.min(end, settledUntil(end - HOUR_SECONDS))
          if (settled > end - HOUR_SECONDS)
            kept.set(`${stable} ${end}`, { hour, settledUntil: settled, revision: ledger.revision })
        }
        return summed((end) => hours.get(end) ?? NONE)
      },
  }
}
