import { z } from 'zod'
import { PEG_WINDOWS } from '../../clickhouse/peg/windows.js'

/** A price that was measured, as clickhouse/peg/price.ts makes it. */
export const CurrentPrice = z.object({
  price_vs_refusd: z
    .number()
    .nonnegative()
    .meta({ description: 'Price for selling one token, in the reference stable' }),
  spread_bps: z.number().nonnegative().meta({ description: 'Distance from 1.00 in basis points' }),
  buy_price: z
    .number()
    .nonnegative()
    .nullable()
    .meta({ description: 'Price for buying one token, in the reference stable; null if nobody sells' }),
  mid_price: z.number().nonnegative().nullable().meta({
    description: 'Halfway between both, to seven decimals: half of the spread is not a deviation; null if nobody sells',
  }),
  bid_ask_bps: z.number().nullable().meta({
    description: 'How much more one token costs than it sells for, in basis points of 1; null if nobody sells',
  }),
  block_number: z.int().meta({ description: 'Height of the sampled block' }),
  sampled_at: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$/)
    .meta({ description: 'Time of that block: YYYY-MM-DD HH:MM:SS+00' }),
  quoted: z.boolean().nullable().meta({
    description:
      'Whether one token can be sold now, or at as_of; if not, this is the last price before it was lost; null if the newest sample is more than 120 s old',
  }),
  price_age_seconds: z.int().nonnegative().meta({ description: 'From that block to now, or to as_of' }),
})

const measured = z.number().nonnegative().nullable()
const count = z.int().nonnegative()

const listed = (words: readonly string[]): string => new Intl.ListFormat('en-GB').format(words)

const PEG_WINDOW_NAMES = PEG_WINDOWS.map(({ window }) => window)
/** The windows as texts name them, such as `1h, 24h and 7d`, and the periods `hour, day and week`. */
export const PEG_WINDOWS_TEXT = listed(PEG_WINDOW_NAMES)
export const PEG_PERIODS_TEXT = listed(PEG_WINDOWS.map(({ period }) => period))

/** A window as clickhouse/peg/windows.ts makes it. */
export const PegWindow = z.object({
  window: z.enum(PEG_WINDOW_NAMES).meta({ description: 'Its length' }),
  sample_count: count.meta({ description: 'Samples with a price' }),
  unquoted_count: count.meta({ description: 'Samples without a price, in none of the figures below' }),
  unquoted_share: measured.meta({
    description: 'Share of the samples that have no price, to six decimals; null without samples',
  }),
  mean_price: measured.meta({
    description: 'Over the samples with a price, in the reference stable; null without one',
  }),
  stddev_price: measured.meta({
    description: 'Standard deviation over the samples with a price, population, in the reference stable',
  }),
  min_price: measured.meta({ description: 'In the reference stable' }),
  max_price: measured.meta({ description: 'In the reference stable' }),
  max_deviation_bps: measured.meta({ description: 'Largest distance from 1.00 in basis points' }),
  seconds_outside_10bps: count
    .nullable()
    .meta({ description: 'Seconds that the price was more than 10 bps from 1.00; null without a price in the window' }),
  seconds_outside_50bps: count
    .nullable()
    .meta({ description: 'Seconds that the price was more than 50 bps from 1.00; null without a price in the window' }),
})
