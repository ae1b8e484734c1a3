/**
 * A row of the samples: the sell price of one token after a block, in millionths, null without a quote. Unix seconds.
 */
export type OracleSample = { block_time: number; block_number: number; sell_micros: number | null }

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
}

/** A filter of breaks, as it is asked for. */
export type AskedBreaks = { severity?: 'mild' | 'severe'; min_bps?: number; min_seconds?: number }

/** Whether a break passes a filter, by the largest distance and the duration that are known of it. */
export const isAskedFor = (
  {
    severity,
    max_deviation_bps,
    duration_seconds,
  }: Pick<OracleEvent, 'severity' | 'max_deviation_bps' | 'duration_seconds'>,
  asked: AskedBreaks,
): boolean =>
  !(asked.severity && asked.severity !== severity) &&
  !(asked.min_bps && asked.min_bps > max_deviation_bps) &&
  !(asked.min_seconds && asked.min_seconds > duration_seconds)

const THRESHOLDS = [
  { severity: 'mild', bps: 10, minutes: 5 },
  { severity: 'severe', bps: 50, minutes: 1 },
] as const

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/**
 * One stable's peg events as known at `asOf`, newest first, computed from all of its samples in order. Written from the
 * definition alone.
 */
export function pegEventsOracle(samples: readonly OracleSample[], asOf: number): OracleEvent[] {
  const known = samples.filter(({ block_time }) => block_time <= asOf)
  const now = known.at(-1)?.block_time ?? 0
  const events: OracleEvent[] = []
  for (const { severity, bps, minutes } of THRESHOLDS) {
    let open: { start: OracleSample; worst: number; lastSeen: number } | null = null
    const report = (end: OracleSample | null): void => {
      if (open === null) return
      // The proven duration: until its end, else until it was last seen outside.
      if ((end?.block_time ?? open.lastSeen) - open.start.block_time < minutes * 60) return
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
      })
    }
    for (const sample of known) {
      if (sample.sell_micros === null) continue
      const distance = Math.abs(sample.sell_micros - 1_000_000) / 100
      if (distance > bps) {
        open ??= { start: sample, worst: 0, lastSeen: 0 }
        open.worst = Math.max(open.worst, distance)
        open.lastSeen = sample.block_time
      } else {
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
