/** The lengths of the published windows, in seconds. */
export const WINDOW_SECONDS = { '1h': 3600, '24h': 86_400, '7d': 604_800 } as const

export type WindowName = keyof typeof WINDOW_SECONDS

/**
 * Sums over some of a window's samples. Deviations are from 1, in millionths. Integers only, so that parts can be
 * added up in any order; `lowest` and `highest` are null without a quoted sample.
 */
export type WindowSums = {
  quoted: number
  unquoted: number
  deviations: bigint
  squares: bigint
  lowest: number | null
  highest: number | null
  outside_10bps: number
  outside_50bps: number
}

/** What is published of a window. Everything but the counts is null without a quoted sample: not measured is not 0. */
export type WindowFigures = {
  sample_count: number
  unquoted_count: number
  mean_price: number | null
  stddev_price: number | null
  min_price: number | null
  max_price: number | null
  max_deviation_bps: number | null
  seconds_outside_10bps: number | null
  seconds_outside_50bps: number | null
}

const NOTHING: WindowSums = {
  quoted: 0,
  unquoted: 0,
  deviations: 0n,
  squares: 0n,
  lowest: null,
  highest: null,
  outside_10bps: 0,
  outside_50bps: 0,
}

const extreme = (choose: (...values: number[]) => number, a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : choose(a, b)

/** The sums over all samples of the parts. */
export function addSums(parts: readonly WindowSums[]): WindowSums {
  return parts.reduce(
    (sum, part) => ({
      quoted: sum.quoted + part.quoted,
      unquoted: sum.unquoted + part.unquoted,
      deviations: sum.deviations + part.deviations,
      squares: sum.squares + part.squares,
      lowest: extreme(Math.min, sum.lowest, part.lowest),
      highest: extreme(Math.max, sum.highest, part.highest),
      outside_10bps: sum.outside_10bps + part.outside_10bps,
      outside_50bps: sum.outside_50bps + part.outside_50bps,
    }),
    NOTHING,
  )
}

/**
 * A window's figures, exact until the last step, so that anyone with the samples gets the same digits. With n quoted
 * samples, S1 the sum of their deviations and S2 that of the squares:
 *
 * - mean_price = (1e6 n + S1) / (1e6 n) and stddev_price (population) = sqrt(n S2 - S1²) / (1e6 n), both rounded to
 *   8 decimals, halves up;
 * - min_price and max_price = 1 + deviation / 1e6, max_deviation_bps = the largest |deviation| / 100.
 */
export function windowFigures(sums: WindowSums): WindowFigures {
  const { quoted, unquoted, deviations, squares, lowest, highest } = sums
  const counts = { sample_count: quoted, unquoted_count: unquoted }
  if (lowest === null || highest === null) {
    return {
      ...counts,
      mean_price: null,
      stddev_price: null,
      min_price: null,
      max_price: null,
      max_deviation_bps: null,
      seconds_outside_10bps: null,
      seconds_outside_50bps: null,
    }
  }
  const n = BigInt(quoted)
  return {
    ...counts,
    mean_price: Number((200n * (1_000_000n * n + deviations) + n) / (2n * n)) / 1e8,
    stddev_price: Math.floor((100 * Math.sqrt(Number(n * squares - deviations * deviations))) / quoted + 0.5) / 1e8,
    min_price: (1_000_000 + lowest) / 1e6,
    max_price: (1_000_000 + highest) / 1e6,
    max_deviation_bps: Math.max(Math.abs(lowest), Math.abs(highest)) / 100,
    seconds_outside_10bps: sums.outside_10bps,
    seconds_outside_50bps: sums.outside_50bps,
  }
}
