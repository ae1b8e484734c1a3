import { z } from 'zod'

const quantile = z.number().nullable()

/** How many blocks or slots a period had and how long they took; null if there were none. */
export const Delay = z.object({
  count: z.int().meta({ description: 'Number of blocks or slots in the period' }),
  p50_seconds: quantile.meta({ description: 'Half of them took no longer' }),
  p99_seconds: quantile.meta({ description: '99 in 100 took no longer' }),
})

const DelayColumn = z
  .tuple([z.int(), z.tuple([quantile, quantile])])
  // ClickHouse returns 0 for quantiles of no rows.
  .transform(([count, [p50, p99]]) => ({
    count,
    p50_seconds: count > 0 ? p50 : null,
    p99_seconds: count > 0 ? p99 : null,
  }))

/** Columns with the delays over the hour and over the day before `now`. */
export const delayColumns = { delay_1h: DelayColumn, delay_24h: DelayColumn }

/**
 * The SQL of these columns, over rows that have a `delay` in seconds and `ended_at`, its end. A percentile is a delay
 * that occurred, not an interpolated one.
 */
export const DELAYS = ['1 HOUR', '24 HOUR']
  .map((period) => {
    const isIn = `ended_at > {now: DateTime64(3)} - INTERVAL ${period}`
    return `(toUInt32(countIf(${isIn})), quantilesExactIf(0.5, 0.99)(delay, ${isIn})) AS delay_${period.replace(' HOUR', 'h')}`
  })
  .join(',\n           ')
