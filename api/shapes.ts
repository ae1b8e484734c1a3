import { z } from 'zod'

/** Why a value is missing or not as new as it could be. */
export const Coverage = z
  .object({ status: z.enum(['complete', 'partial', 'unavailable']), message: z.string() })
  .meta({ id: 'Coverage' })

/** A price that was measured, as domain/peg-price.ts makes it. */
export const CurrentPrice = z.object({
  price_vs_refusd: z.number().nonnegative().meta({ description: 'What one token sells for, in the reference stable' }),
  spread_bps: z.number().nonnegative().meta({ description: 'Distance from 1.00 in basis points' }),
  buy_price: z
    .number()
    .nonnegative()
    .nullable()
    .meta({ description: 'What one token costs, in the reference stable; null when nobody sells' }),
  block_number: z.int(),
  sampled_at: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$/),
})

const measured = z.number().nonnegative().nullable()
const count = z.int().nonnegative()

/** A window as domain/peg-window.ts makes it. */
export const PegWindow = z.object({
  window: z.enum(['1h', '24h', '7d']),
  sample_count: count.meta({ description: 'Samples with a price' }),
  unquoted_count: count.meta({ description: 'Samples without a price, in none of the other figures' }),
  mean_price: measured,
  stddev_price: measured.meta({ description: 'Over all samples, population' }),
  min_price: measured,
  max_price: measured,
  max_deviation_bps: measured,
  seconds_outside_10bps: count.nullable(),
  seconds_outside_50bps: count.nullable(),
})
