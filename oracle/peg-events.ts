/**
 * A row of the samples: the sell price of one token after a block, in millionths, null without a quote. Unix seconds.
 */
export type OracleSample = { block_time: number; block_number: number; sell_micros: number | null }

/** What `size_tokens` tokens sell for after a block, in base units of 10^-6; null without a quote. */
export type OracleDepth = {
  size_tokens: number
  block_time: number
  block_number: number
  sell_status: string
  sell_raw: string | null
}

/** A peg event as the interface returns it. */
export type OracleEvent = {
  severity: 'mild' | 'severe'
  direction: 'below' | 'above'
  started_at: string
  ended_at: string | null
  duration_seconds: number
  max_deviation_bps: number
  started_block: number
  ended_block: number | null
  ongoing: boolean
  standing_tokens: number | null
  thin: boolean | null
}

/** A filter of breaks, as it is asked for. */
export type BreakFilter = { severity?: 'mild' | 'severe'; min_bps?: number; min_seconds?: number; min_size?: number }

type Judged = Pick<OracleEvent, 'severity' | 'max_deviation_bps' | 'duration_seconds' | 'standing_tokens'>

/** Whether a break passes a filter, by what is known of it. */
export const passesFilter = (
  { severity, max_deviation_bps, duration_seconds, standing_tokens }: Judged,
  filter: BreakFilter,
): boolean =>
  !(filter.severity && filter.severity !== severity) &&
  !(filter.min_bps && filter.min_bps > max_deviation_bps) &&
  !(filter.min_seconds && filter.min_seconds > duration_seconds) &&
  !(filter.min_size && (standing_tokens === null || filter.min_size > standing_tokens))

const THRESHOLDS = [
  { severity: 'mild', bps: 10, minutes: 5 },
  { severity: 'severe', bps: 50, minutes: 1 },
] as const

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** A break that has lasted long enough. `confirmed_at` is the time of the sample that shows it, which may be the one that ends it. */
type Confirmed = { start: OracleSample; confirmed_at: number; end: OracleSample | null; bps: number }

/**
 * For how many tokens a break stands: by the newest depth sample from its first block until it is confirmed, and before its
 * end, the largest size up to which all are beyond the limit.
 */
export function standingOf({ start, confirmed_at, end, bps }: Confirmed, depth: readonly OracleDepth[]): number | null {
  const within = depth.filter(
    ({ block_number, block_time }) =>
      block_number >= start.block_number && block_time <= confirmed_at && !(end && block_number >= end.block_number),
  )
  const newest = within.reduce((newestBlock, { block_number }) => Math.max(newestBlock, block_number), 0)
  const isAbove = (start.sell_micros as number) > 1_000_000
  const stands = ({ size_tokens, sell_status, sell_raw }: OracleDepth): boolean | null => {
    if (sell_status === 'no_liquidity') return !isAbove
    if (sell_raw === null) return null
    // Both times 10,000, so that basis points are whole.
    const [received, size] = [BigInt(sell_raw) * 10_000n, BigInt(size_tokens) * 1_000_000n]
    return isAbove ? received > size * BigInt(10_000 + bps) : received < size * BigInt(10_000 - bps)
  }
  const sizes = within
    .filter(({ block_number }) => block_number === newest)
    .toSorted((a, b) => a.size_tokens - b.size_tokens)
  const against = sizes.find((row) => stands(row) !== true)
  if (sizes.length === 0 || (against && stands(against) === null)) return null
  return sizes.findLast(({ size_tokens }) => !against || size_tokens < against.size_tokens)?.size_tokens ?? 0
}

/** Whether a break that stands for so many tokens is thin. */
export const thinOf = (standing_tokens: number | null): boolean | null =>
  standing_tokens === null ? null : standing_tokens < 10_000

/**
 * One stable's peg events as known at `asOf`, newest first, computed from all of its samples in order and its depth samples.
 * Written from the definition alone.
 */
export function pegEventsOracle(
  samples: readonly OracleSample[],
  asOf: number,
  depth: readonly OracleDepth[] = [],
): OracleEvent[] {
  const samplesUntil = samples.filter(({ block_time }) => block_time <= asOf)
  const now = samplesUntil.at(-1)?.block_time ?? 0
  const events: OracleEvent[] = []
  for (const { severity, bps, minutes } of THRESHOLDS) {
    let open: { start: OracleSample; worst: number; confirmed_at: number | null } | null = null
    const report = (end: OracleSample | null): void => {
      if (open === null || open.confirmed_at === null) return
      const standing_tokens = standingOf({ ...open, confirmed_at: open.confirmed_at, end, bps }, depth)
      events.push({
        severity,
        direction: (open.start.sell_micros as number) > 1_000_000 ? 'above' : 'below',
        started_at: iso(open.start.block_time),
        ended_at: end && iso(end.block_time),
        duration_seconds: (end?.block_time ?? now) - open.start.block_time,
        max_deviation_bps: open.worst,
        started_block: open.start.block_number,
        ended_block: end?.block_number ?? null,
        ongoing: end === null,
        standing_tokens,
        thin: thinOf(standing_tokens),
      })
    }
    for (const sample of samplesUntil) {
      if (sample.sell_micros === null) continue
      const distance = Math.abs(sample.sell_micros - 1_000_000) / 100
      if (distance > bps) open ??= { start: sample, worst: 0, confirmed_at: null }
      // The one that ends it also shows how long it lasted.
      if (open && sample.block_time - open.start.block_time >= minutes * 60) open.confirmed_at ??= sample.block_time
      if (open && distance > bps) open.worst = Math.max(open.worst, distance)
      else {
        report(sample)
        open = null
      }
    }
    report(null)
  }
  return events.sort(
    (a, b) =>
      b.started_at.localeCompare(a.started_at) ||
      b.started_block - a.started_block ||
      b.severity.localeCompare(a.severity),
  )
}
