import { z } from 'zod'
import { PegSampleRow } from '../clickhouse/queries/peg-sample.js'

const { block_number, sampled_at, buy_price } = PegSampleRow.shape

/** Why a value is missing or not as new as it could be. */
export const Coverage = z
  .object({ status: z.enum(['complete', 'partial', 'unavailable']), message: z.string() })
  .meta({ id: 'Coverage' })

/** A price that was measured. */
export const CurrentPrice = z.object({
  price_vs_refusd: z.number().nonnegative().meta({ description: 'What one token sells for, in the reference stable' }),
  spread_bps: z.number().nonnegative().meta({ description: 'Distance from 1.00 in basis points' }),
  buy_price: buy_price.meta({ description: 'What one token costs, in the reference stable; null when nobody sells' }),
  block_number,
  sampled_at,
})
