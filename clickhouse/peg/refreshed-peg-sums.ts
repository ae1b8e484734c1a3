import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { PegSumsRow } from './peg-sums.js'

/** A stable's windows as of the last refresh, `as_of`, in no order. Nothing before the first refresh that saw it. */
export const refreshedPegSums = defineQuery({
  name: 'refreshed_peg_sums',
  params: z.object({ stable: z.string() }),
  row: z.object({ window_seconds: z.int(), as_of: dateTime, ...PegSumsRow.shape }),
  sql: `
    SELECT window_seconds, as_of, quoted_count, unquoted_count, deviation_sum, deviation_square_sum,
           deviation_min, deviation_max, seconds_outside_10bps, seconds_outside_50bps
    FROM peg_windows WHERE stable = {stable: String}`,
})
