import { z } from 'zod'
import { integerText } from '../store/values.js'

// A sum over nothing but nulls is null in SQL.
const sum = integerText.nullable().transform((text) => BigInt(text ?? 0))
const deviation = z.coerce.number().int().nullable()

/** The columns of a row of sums over samples. */
export const PegSumsRow = z.object({
  quoted_count: sum,
  unquoted_count: sum,
  deviation_sum: sum,
  deviation_square_sum: sum,
  deviation_min: deviation,
  deviation_max: deviation,
  seconds_outside_10bps: sum,
  seconds_outside_50bps: sum,
})
