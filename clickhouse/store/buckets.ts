/** The lengths of the buckets of series, in seconds. Buckets are aligned to the epoch, so days to UTC. */
export const BUCKET_SECONDS = { '1m': 60, '5m': 300, '1h': 3600, '1d': 86_400 } as const

export type Interval = keyof typeof BUCKET_SECONDS

/** Unix seconds. */
type Range = {
  interval: Interval
  from: number
  to: number
  /** Times of the first and the newest block. */
  oldest: number
  newest: number
  /** Where the previous page ended. */
  after?: number | undefined
  limit: number
}

/**
 * `count` buckets, the first beginning at `first` and the last ending at `end`, in unix seconds; the next page begins
 * at `next`.
 */
export type BucketPage = { first: number; end: number; count: number; next: number | null }

/**
 * The buckets of a page. A bucket is (start, start + interval], as a window is, and belongs to a range [from, to) when
 * it starts there. Only buckets that can have samples and will not change are returned: from the one with the first
 * block to the last one that ends before the newest block. So every returned bucket is final, and pages depend only on
 * chain time. If there is no bucket, `first` and `end` are equal.
 */
export function bucketPage({ interval, from, to, oldest, newest, after, limit }: Range): BucketPage {
  const seconds = BUCKET_SECONDS[interval]
  const ceil = (time: number): number => Math.ceil(time / seconds) * seconds
  const start = Math.max(ceil(from), ceil(oldest) - seconds, ceil(after ?? 0), 0)
  // The newest block may share its second with blocks to come.
  const end = Math.min(ceil(to), Math.floor((newest - 1) / seconds) * seconds)
  const total = Math.max(0, (end - start) / seconds)
  const count = Math.min(total, limit)
  const next = start + count * seconds
  return { first: start, end: next, count, next: count < total ? next : null }
}
