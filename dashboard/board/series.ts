import type { GetAllPegSeriesData } from '../../clients/typescript/src/types.js'

/** GET /stablecoins/peg/series. Bucket i is (from + i * step, from + (i + 1) * step]. */
export type SeriesAnswer = Omit<GetAllPegSeriesData, 'coverage'> & {
  coverage: Pick<GetAllPegSeriesData['coverage'], 'status' | 'message'>
}

/** The buckets of one stable: basis points from 1.00, signed, and the share of samples without a quote. */
export type SeriesOfStable = GetAllPegSeriesData['stables'][number]

const DAY = 86_400

/** Length and bucket of the windows, in seconds, and the name that the service has for the bucket. */
export const WINDOW_STEPS = {
  '1h': { length: 3600, step: 60, name: '1m' },
  '6h': { length: 21_600, step: 300, name: '5m' },
  '24h': { length: DAY, step: 300, name: '5m' },
  '7d': { length: 7 * DAY, step: 3600, name: '1h' },
} as const

/** A range of whole buckets, in unix seconds. */
export type Span = { from: number; to: number }

/** The window that ends with the last bucket that has ended by an instant. */
export function spanOf(window: keyof typeof WINDOW_STEPS, at: number): Span {
  const { length, step } = WINDOW_STEPS[window]
  const to = Math.floor(at / step) * step
  return { from: to - length, to }
}

/** What a bucket says about a stable. */
export type Bucket =
  | { is: 'quoted'; low: number; high: number; last: number; unquotedShare: number }
  | { is: 'unquoted' }
  | { is: 'unmeasured' }

const UNMEASURED: Bucket = { is: 'unmeasured' }

/** The i-th bucket; outside of the series, nothing is measured. */
export function bucketAt({ low_bps, high_bps, last_bps, unquoted_share }: SeriesOfStable, i: number): Bucket {
  const share = unquoted_share[i]
  if (share === null || share === undefined) return UNMEASURED
  const [low, high, last] = [low_bps[i], high_bps[i], last_bps[i]]
  if (typeof low !== 'number' || typeof high !== 'number' || typeof last !== 'number') return { is: 'unquoted' }
  return { is: 'quoted', low, high, last, unquotedShare: share }
}
