import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { HOUR_SECONDS } from '../../process/instants.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { MAX_SAMPLE_SECONDS } from './price.js'
import {
  ADDED_NAMES,
  ALLOWED_MICROS,
  addSums,
  DEVIATION,
  MINUTE_SUMS,
  NO_SUMS,
  type PegSums,
  SUM_COLUMNS,
  selected,
} from './sums.js'
import { type ByPegWindow, byPegWindow, LONGEST_PEG_WINDOW } from './windows.js'

const overhangOf = (allowed: number): string => `toInt64(sumIf(overhang, abs(deviation) > ${allowed}))`

/**
 * A stable's sums by parts of `length` seconds between `since` and `end`, in unix seconds, by their start. A sample of a
 * part may represent time before its start: `overhang` are these seconds outside, which a window that begins there does not
 * count. A part may have two rows.
 */
const windowParts = defineQuery({
  name: 'peg_window_parts',
  params: z.object({ stable: z.string(), length: z.int(), since: z.int(), end: z.int() }),
  row: z.object({
    ...SUM_COLUMNS,
    start: z.int(),
    overhang_10bps: z.coerce.bigint(),
    overhang_50bps: z.coerce.bigint(),
  }),
  sql: `
    SELECT toUInt32(intDiv(toUnixTimestamp(minute_end) - 1, {length: UInt32}) * {length: UInt32}) AS start,
           ${selected(MINUTE_SUMS)}, toInt64(0) AS overhang_10bps, toInt64(0) AS overhang_50bps
    FROM peg_minutes
    WHERE stable = {stable: String} AND minute_end > {since: UInt32} AND minute_end <= {end: UInt32}
    GROUP BY start
    UNION ALL
    SELECT start, ${Object.values(NO_SUMS)}, ${overhangOf(ALLOWED_MICROS['10bps'])}, ${overhangOf(ALLOWED_MICROS['50bps'])}
    FROM
    (
        SELECT ${DEVIATION} AS deviation, toUnixTimestamp(block_time) AS time,
               toUInt32(arrayJoin(arrayDistinct([intDiv(time - 1, {length: UInt32}), intDiv(time - 61, {length: UInt32})])) * {length: UInt32}) AS start,
               toInt64(elapsed_seconds) - (time - start) AS overhang
        FROM peg_samples
        WHERE stable = {stable: String} AND block_time > {since: UInt32} AND block_time <= {end: UInt32}
          AND (toUnixTimestamp(block_time) - 1) % {length: UInt32} < ${MAX_SAMPLE_SECONDS}
    )
    WHERE overhang > 0
    GROUP BY start`,
})

type Part = PegSums & { overhang_10bps: bigint; overhang_50bps: bigint }

/** The sums of the parts before each part, and after the last one of all. */
function runningSums(parts: readonly Part[]): PegSums[] {
  let sums = addSums([])
  const running = [sums]
  for (const part of parts) {
    const next = { ...sums }
    for (const name of ADDED_NAMES) next[name] += part[name]
    sums = next
    running.push(sums)
  }
  return running
}

/**
 * For each value the best of it and of the `size` - 1 before it, where `isBetter` says which of two is; nulls never are, and
 * null where there is nothing else.
 */
function slidingBest(
  values: readonly (number | null)[],
  size: number,
  isBetter: (a: number, b: number) => boolean,
): (number | null)[] {
  // Candidates, the best first: each is better than all after it.
  const candidates: number[] = []
  let first = 0
  return values.map((value, i) => {
    if (value !== null) {
      while (candidates.length > first && !isBetter(values[candidates.at(-1) as number] as number, value))
        candidates.pop()
      candidates.push(i)
    }
    while (first < candidates.length && (candidates[first] as number) <= i - size) first += 1
    const best = candidates[first]
    return best === undefined ? null : (values[best] as number)
  })
}

/**
 * A stable's windows at the end of each bucket of `interval` seconds from `first` to `end`, in unix seconds: for each
 * window the sums at every instant, oldest first. The same, digit for digit, as from `pegAt` at those instants.
 */
export async function pegWindowSeries(
  clickhouse: ClickHouseClient,
  { stable, interval, first, end }: { stable: string; interval: number; first: number; end: number },
  options?: { signal?: QuerySignal },
): Promise<ByPegWindow<PegSums[]>> {
  // Windows begin at whole hours before an instant.
  const length = Math.min(interval, HOUR_SECONDS)
  const since = first + interval - LONGEST_PEG_WINDOW
  const rows = await windowParts(clickhouse, { stable, length, since: Math.max(since, 0), end }, options)
  const parts: Part[] = Array.from({ length: Math.max(end - since, 0) / length }, () => ({
    ...addSums([]),
    overhang_10bps: 0n,
    overhang_50bps: 0n,
  }))
  for (const { start, ...row } of rows) {
    const at = (start - since) / length
    const before = parts[at]
    if (!before) continue
    parts[at] = {
      ...addSums([before, row]),
      overhang_10bps: before.overhang_10bps + row.overhang_10bps,
      overhang_50bps: before.overhang_50bps + row.overhang_50bps,
    }
  }
  const running = runningSums(parts)
  const instants = Array.from({ length: (end - first) / interval }, (_, i) => first + (i + 1) * interval)
  return byPegWindow(({ seconds }) => {
    const size = seconds / length
    const lows = slidingBest(
      parts.map(({ deviation_min }) => deviation_min),
      size,
      (a, b) => a < b,
    )
    const highs = slidingBest(
      parts.map(({ deviation_max }) => deviation_max),
      size,
      (a, b) => a > b,
    )
    return instants.map((instant) => {
      const until = (instant - since) / length
      const [a, b] = [running[until - size], running[until]] as [PegSums, PegSums]
      const { overhang_10bps, overhang_50bps } = parts[until - size] as Part
      const sums = addSums([])
      for (const name of ADDED_NAMES) sums[name] = b[name] - a[name]
      return {
        ...sums,
        deviation_min: lows[until - 1] ?? null,
        deviation_max: highs[until - 1] ?? null,
        seconds_outside_10bps: sums.seconds_outside_10bps - overhang_10bps,
        seconds_outside_50bps: sums.seconds_outside_50bps - overhang_50bps,
      }
    })
  })
}
