import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { HOUR_SECONDS } from '../../process/instants.js'
import type { Memories } from '../../process/memory.js'
import type { Ledger } from '../chain/ledger.js'
import { defineColumns, type QuerySignal } from '../store/define-query.js'
import { columnsByStable, STABLE_INDEX, together } from '../store/together.js'
import { createSettledParts } from './settled.js'
import { addSums, bySum, type PegSums, SUM_NAMES, SUM_ROW_BYTES, SumRows, selected } from './sums.js'
import { LONGEST_PEG_WINDOW } from './windows.js'

type Options = { signal?: QuerySignal }

/** The sums over the samples of whole minutes that end in (after, until], in unix seconds. */
type MinuteSums = (after: number, until: number) => PegSums

/** Reads what is needed of a stable for sums between `after` and `until`, which are ends of minutes. */
export type ReadMinuteSums = (
  clickhouse: ClickHouseClient,
  asked: { stable: string; after: number; until: number },
  options?: Options,
) => Promise<MinuteSums>

/** The states as numbers: 64-bit integers would be quoted. */
const STATES = bySum(
  (name) => `toFloat64(${name})`,
  (name) => name,
)

const minuteStatesOf = defineColumns({
  name: 'peg_minute_states',
  params: z.object({ stables: z.array(z.string()), after: z.int(), until: z.int() }),
  columns: {
    stable_index: z.int(),
    end: z.int(),
    ...bySum(
      () => z.int(),
      () => z.int().nullable(),
    ),
  },
  sql: `
    SELECT ${STABLE_INDEX}, toUnixTimestamp(minute_end) AS end,
           ${selected(STATES)}
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

/** The minutes of one hour, and their sums. */
class HourOfMinutes {
  readonly #minutes = new SumRows(MINUTES)
  #total: PegSums | null = null

  add(minute: number, sums: Parameters<SumRows['add']>[1], row: number): void {
    this.#minutes.add(minute, sums, row)
    this.#total = null
  }

  /** The sums of the minutes from `first` to `last`, both included. */
  sums(first: number, last: number): PegSums {
    if (first > 0 || last < MINUTES - 1) return this.#minutes.sums(first, last)
    this.#total ??= this.#minutes.sums(first, last)
    return this.#total
  }
}

/** The end of the hour that a minute is in. */
const hourEnd = (minuteEnd: number): number => Math.ceil(minuteEnd / HOUR_SECONDS) * HOUR_SECONDS
const minuteOf = (minuteEnd: number): number => (minuteEnd - 60 - (hourEnd(minuteEnd) - HOUR_SECONDS)) / 60

/** The hours with an end from `first` to `last`, made of the states of their minutes. */
function hoursOf(states: MinuteStates): Map<number, HourOfMinutes> {
  const hours = new Map<number, HourOfMinutes>()
  const sums = SUM_NAMES.map((name) => states[name])
  for (const [row, end] of states.end.entries()) {
    const hour = hours.get(hourEnd(end)) ?? new HourOfMinutes()
    hours.set(hourEnd(end), hour)
    hour.add(minuteOf(end), sums, row)
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

/** What an hour takes in memory, in bytes: its numbers, and what the engine and the cache add. */
const HOUR_BYTES = MINUTES * SUM_ROW_BYTES + 600

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
 * Reads minute sums with a memory of hours, of up to `maxBytes`: `given` a ledger that was read before, an answer only
 * needs to read the hours that are not kept up to the last minute that it needs.
 */
export function createMinuteSums(memories: Memories, maxBytes: number): (ledger: Ledger) => ReadMinuteSums {
  const kept = createSettledParts<HourOfMinutes>(memories, {
    name: 'peg_minutes',
    holds: 'the sums of the minutes of a stable in an hour',
    maxBytes,
    bytesOf: () => HOUR_BYTES,
    seconds: HOUR_SECONDS,
    // The minute in which the last sample lies may get more of them, and a rollback to it rewrites its states.
    stepSeconds: 60,
  })
  return (ledger) =>
    async (clickhouse, { stable, after, until }, options) => {
      const { find, keep, settledUntil } = kept(ledger, stable)
      const hours = new Map<number, HourOfMinutes>()
      const missing: number[] = []
      for (let end = hourEnd(after + 60); end - HOUR_SECONDS < until; end += HOUR_SECONDS) {
        const hour = find(end, until)
        if (hour) hours.set(end, hour)
        else missing.push(end)
      }
      const read = await Promise.all(
        runsOf(missing).map(async ({ first, last }) => {
          const to = Math.max(Math.min(last, until), settledUntil(last))
          return hoursOf(await minuteStates(clickhouse, { stable, after: first - HOUR_SECONDS, until: to }, options))
        }),
      )
      for (const end of missing) {
        const hour = read.map((run) => run.get(end)).find((hour) => hour !== undefined) ?? NONE
        hours.set(end, hour)
        keep(end, hour)
      }
      return summed((end) => hours.get(end) ?? NONE)
    }
}
