import { z } from 'zod'
import { defineQuery } from '../define-query.js'

const measured = z.number().nonnegative().nullable()
const count = z.int().nonnegative()

export const PegWindow = z.object({
  window: z.enum(['1h', '24h', '7d']),
  sample_count: count,
  unquoted_count: count,
  mean_price: measured,
  stddev_price: measured,
  min_price: measured,
  max_price: measured,
  max_deviation_bps: measured,
  seconds_outside_10bps: count.nullable(),
  seconds_outside_50bps: count.nullable(),
})
export type PegWindow = z.infer<typeof PegWindow>

/**
 * A window's figures, out of its integer sums over the n quoted samples: S1 of their deviations from 1 in millionths
 * and S2 of the squares of those. Exact until the last step, so that anyone with the samples gets the same digits:
 *
 * - mean_price = (1e6 n + S1) / (1e6 n) and stddev_price (population) = sqrt(n S2 - S1²) / (1e6 n), both rounded to
 *   8 decimals, halves up;
 * - min_price and max_price = 1 + deviation / 1e6, max_deviation_bps = the largest |deviation| / 100.
 *
 * All are null without a quoted sample, and so are the seconds: not measured is not 0.
 */
const FIGURES = `
  transform(window_seconds, [3600, 86400, 604800], ['1h', '24h', '7d'], '') AS window,
  toUInt32(quoted_count) AS sample_count,
  toUInt32(unquoted_count) AS unquoted_count,
  toInt256(nullIf(quoted_count, 0)) AS n,
  toFloat64(intDiv(200 * (1000000 * n + deviation_sum) + n, 2 * n)) / 100000000 AS mean_price,
  floor(100 * sqrt(toFloat64(n * deviation_square_sum - toInt256(deviation_sum) * deviation_sum)) / toFloat64(n) + 0.5)
    / 100000000 AS stddev_price,
  (1000000 + deviation_min) / 1000000 AS min_price,
  (1000000 + deviation_max) / 1000000 AS max_price,
  greatest(abs(deviation_min), abs(deviation_max)) / 100 AS max_deviation_bps,
  if(n IS NULL, NULL, toUInt32(seconds_outside_10bps)) AS seconds_outside_10bps,
  if(n IS NULL, NULL, toUInt32(seconds_outside_50bps)) AS seconds_outside_50bps`

const unmeasured = {
  sample_count: 0,
  unquoted_count: 0,
  mean_price: null,
  stddev_price: null,
  min_price: null,
  max_price: null,
  max_deviation_bps: null,
  seconds_outside_10bps: null,
  seconds_outside_50bps: null,
}

/** The three windows in SPEC's order; those that `rows` lack, because nothing was sampled in them, are empty. */
export function allWindows(rows: readonly PegWindow[]): PegWindow[] {
  return PegWindow.shape.window.options.map(
    (window) => rows.find((row) => row.window === window) ?? { window, ...unmeasured },
  )
}

/** A stable's windows as of any instant, whole seconds, in no order. A window without a sample is missing. */
export const pegWindowsAt = defineQuery({
  name: 'peg_windows_at',
  params: z.object({ stable: z.string(), as_of: z.date() }),
  row: PegWindow,
  sql: `
    SELECT ${FIGURES}
    FROM peg_windows_at(as_of = {as_of: DateTime}) WHERE stable = {stable: String}`,
})

/** A stable's windows as of the last refresh, `as_of`, in no order. Nothing before the first refresh. */
export const refreshedPegWindows = defineQuery({
  name: 'refreshed_peg_windows',
  params: z.object({ stable: z.string() }),
  row: z.object({ ...PegWindow.shape, as_of: z.iso.datetime() }),
  sql: `
    SELECT ${FIGURES}, as_of
    FROM peg_windows WHERE stable = {stable: String}`,
})
