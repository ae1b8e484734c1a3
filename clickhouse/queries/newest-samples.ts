import { z } from 'zod'
import { defineQuery } from '../define-query.js'
import { PegSampleRow, PricedSampleRow } from './peg-sample.js'

/**
 * For every stable the status of its newest sample, and its newest sample with a price out of the last ten minutes
 * before the newest block; null where none of those has one. Looks no further back, so that it costs the same whatever
 * the length of history. Every block samples every stable, so one that is missing was never sampled.
 */
export const newestSamples = defineQuery({
  name: 'newest_samples',
  params: z.object({}),
  row: z.object({
    stable: z.string(),
    newest_status: PegSampleRow.shape.status,
    priced: z.array(PricedSampleRow).max(1),
  }),
  sql: `
    SELECT stable,
           argMax(status, block_number) AS newest_status,
           arrayResize(argMaxIf([CAST(
             (status, sell_micros / 1000000, buy_micros / 1000000, abs(deviation_micros) / 100, toUInt32(block_number), formatDateTime(block_time, '%F %T+00')),
             'Tuple(status String, price_vs_refusd Nullable(Float64), buy_price Nullable(Float64), spread_bps Nullable(Float64), block_number UInt32, sampled_at String)'
           )], block_number, sell_micros IS NOT NULL), 1) AS priced
    FROM peg_samples
    WHERE block_time > (SELECT max(block_time) FROM peg_samples) - 600
    GROUP BY stable`,
})
