import { depthAt } from './depth.js'
import type { DepthSample, PegSample } from './facts.js'
import { pegEventsOracle } from './peg-events.js'
import { expectedWindows } from './peg-windows.js'
import { pegBucket } from './series.js'

const DAY = 86_400

const bps = (price: number | null): number | null => (price === null ? null : Math.round((price - 1) * 1e6) / 100)

/** Lists of the values that the rows have by name. */
function columnsOf<Row extends object>(rows: readonly Row[]): { [Name in keyof Row]: Row[Name][] } {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row)[]
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as {
    [Name in keyof Row]: Row[Name][]
  }
}

/** The price of a stable in the buckets of `seconds` that begin at `starts`, as columns; null if it was not sampled there. */
export function pegColumns(samples: readonly PegSample[], starts: readonly number[], seconds: number) {
  const buckets = starts.map((start) => pegBucket(samples, start, seconds))
  const counts = buckets.map(({ sample_count, unquoted_count }) => sample_count + unquoted_count)
  if (counts.every((count) => count === 0)) return null
  return {
    low_bps: buckets.map(({ low }) => bps(low)),
    high_bps: buckets.map(({ high }) => bps(high)),
    last_bps: buckets.map(({ close }) => bps(close)),
    unquoted_share: buckets.map(({ unquoted_count }, i) => {
      const count = counts[i] as number
      return count === 0 ? null : Math.round((1e6 * unquoted_count) / count) / 1e6
    }),
  }
}

/** The windows of a stable as of each of `ends`, as columns. */
export function windowColumns(samples: readonly PegSample[], windowEnds: readonly number[]) {
  const instants = windowEnds.map((end) => expectedWindows(samples, end))
  return (instants[0] ?? []).map(({ window }, i) => {
    const { window: _, ...columns } = columnsOf(instants.map((windows) => windows[i] as (typeof windows)[number]))
    return { window, ...columns }
  })
}

/** The slippage of a stable at the newest depth sample of each bucket, as columns. */
export function depthColumns(
  depth: readonly DepthSample[],
  samples: readonly PegSample[],
  starts: readonly number[],
  seconds: number,
) {
  const buckets = starts.map((start) => {
    const newest = depthAt(depth, samples, start + seconds)
    const isInside = newest.sampled_at !== null && Date.parse(newest.sampled_at) > start * 1000
    return isInside ? newest.sizes : []
  })
  const sizes = new Set(buckets.flat().map(({ size_tokens }) => size_tokens))
  return [...sizes]
    .sort((a, b) => a - b)
    .map((size_tokens) => {
      const rows = buckets.map((bucket) => bucket.find((row) => row.size_tokens === size_tokens))
      return {
        size_tokens,
        sell_slippage_bps: rows.map((row) => row?.sell.slippage_bps ?? null),
        buy_slippage_bps: rows.map((row) => row?.buy.slippage_bps ?? null),
        is_sampled: rows.map((row) => row !== undefined),
      }
    })
}

/** What the list of stables says of a stable's last day: the largest deviation, and the worst break that is under way. */
export function dayFigures(samples: readonly PegSample[], at: number) {
  const day = samples.filter(({ block_time }) => block_time > at - DAY && block_time <= at)
  const prices = day.flatMap(({ sell_micros }) => (sell_micros === null ? [] : [sell_micros]))
  const open = pegEventsOracle(samples, at).filter(({ ongoing }) => ongoing)
  const worst = open.find(({ severity }) => severity === 'severe') ?? open[0]
  return {
    max_deviation_24h_bps: prices.length === 0 ? null : Math.max(...prices.map((price) => Math.abs(price - 1e6))) / 100,
    open_break: worst
      ? { severity: worst.severity, started_at: worst.started_at, started_block: worst.started_block }
      : null,
  }
}
