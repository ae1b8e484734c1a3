import { z } from 'zod'

/** ISO 8601, for example shape YYYY-MM-DDTHH:MM:SSZ. */
const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const count = z.number().int().min(0)

/** The coverage of an answer: `status` and `message` as specified, and the additional fields. */
export const CoverageSpec = z.strictObject({
  status: z.enum(['complete', 'partial', 'unavailable']),
  message: z.string().min(1),
  missing: z.array(
    z.strictObject({
      from: timestamp,
      to: timestamp,
      from_block: count.nullable(),
      to_block: count.nullable(),
      reason: z.string().min(1),
    }),
  ),
  missing_count: count,
  measured_from: timestamp.nullable(),
  measured_until: timestamp.nullable(),
})
