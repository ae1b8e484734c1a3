import type { PegSample } from './facts.js'

/** The windows and their lengths in seconds. */
export const WINDOW_SECONDS = { '1h': 3600, '24h': 86_400, '7d': 604_800 } as const
export const LONGEST_WINDOW = Math.max(...Object.values(WINDOW_SECONDS))

/** The integer square root, rounded down. */
function root(value: bigint): bigint {
  let low = 0n
  let high = value + 1n
  while (high - low > 1n) {
    const mid = (low + high) / 2n
    if (mid * mid <= value) low = mid
    else high = mid
  }
  return low
}

/** A window's figures computed directly from samples, independently of the service's own computation. */
export function expectedWindows(samples: readonly PegSample[], asOf: number) {
  return Object.entries(WINDOW_SECONDS).map(([window, length]) => {
    const inside = samples.filter(({ block_time }) => block_time > asOf - length && block_time <= asOf)
    const quoted = inside.filter(({ sell_micros }) => sell_micros !== null)
    const unquoted_count = inside.length - quoted.length
    const unquoted_share = inside.length === 0 ? null : Math.round((1e6 * unquoted_count) / inside.length) / 1e6
    const counts = { window, sample_count: quoted.length, unquoted_count, unquoted_share }
    if (quoted.length === 0)
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
    const prices = quoted.map(({ sell_micros }) => sell_micros as number)
    const n = BigInt(prices.length)
    const total = prices.reduce((sum, price) => sum + BigInt(price), 0n)
    // n² times the variance in square micros: sum over (n p - total)², divided by n once more than needed, so times n.
    const variance = prices.reduce((sum, price) => sum + (n * BigInt(price) - total) ** 2n, 0n) / n
    const secondsOutside = (micros: number) =>
      quoted
        .filter(({ sell_micros }) => Math.abs((sell_micros as number) - 1_000_000) > micros)
        .reduce(
          (sum, { block_time, elapsed_seconds }) => sum + Math.min(elapsed_seconds, block_time - (asOf - length)),
          0,
        )
    return {
      ...counts,
      // Both rounded half up at the eighth decimal.
      mean_price: Number((2n * 100n * total + n) / (2n * n)) / 1e8,
      stddev_price: Number((root(variance * 40_000n) + n) / (2n * n)) / 1e8,
      min_price: Math.min(...prices) / 1e6,
      max_price: Math.max(...prices) / 1e6,
      max_deviation_bps: Math.max(...prices.map((price) => Math.abs(price - 1_000_000))) / 100,
      seconds_outside_10bps: secondsOutside(1000),
      seconds_outside_50bps: secondsOutside(5000),
    }
  })
}
