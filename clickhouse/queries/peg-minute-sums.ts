import { z } from 'zod'
import { defineQuery } from '../define-query.js'
import { PegSumsRow } from './peg-sums.js'

/**
 * The inner, whole minutes of a stable's three windows as of an instant in the minute that ends at `last_minute`: all
 * but a window's first three and last two, which `pegEdgeSums` reads. A row's `shortest_window` and all longer ones,
 * in seconds, contain it. Rows without samples are missing.
 */
export const pegMinuteSums = defineQuery({
  name: 'peg_minute_sums',
  params: z.object({ stable: z.string(), last_minute: z.date() }),
  row: z.object({ shortest_window: z.int(), ...PegSumsRow.shape }),
  sql: `
    SELECT multiIf(minute_end > {last_minute: DateTime} - 3480, 3600, minute_end > {last_minute: DateTime} - 86280, 86400, 604800) AS shortest_window,
           sum(quoted_count) AS quoted_count, sum(unquoted_count) AS unquoted_count,
           sum(deviation_sum) AS deviation_sum, sum(deviation_square_sum) AS deviation_square_sum,
           min(deviation_min) AS deviation_min, max(deviation_max) AS deviation_max,
           sum(seconds_outside_10bps) AS seconds_outside_10bps, sum(seconds_outside_50bps) AS seconds_outside_50bps
    FROM peg_minutes
    WHERE stable = {stable: String}
      AND minute_end > {last_minute: DateTime} - 604680 AND minute_end <= {last_minute: DateTime} - 120
    GROUP BY shortest_window
    SETTINGS max_threads = 1`,
})
