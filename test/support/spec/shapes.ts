import { z } from 'zod'

/** An address as answers contain it. */
export const address = z.string().regex(/^0x[0-9a-f]{40}$/)
export const txHash = z.string().regex(/^0x[0-9a-f]{64}$/)
/** ISO 8601, for example shape YYYY-MM-DDTHH:MM:SSZ. */
export const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
/** A raw on-chain integer. */
export const rawInteger = z.string().regex(/^\d+$/)
export const count = z.number().int().min(0)
export const tokens = z.number().min(0)

/** The coverage of an answer: `status` and `message` as specified, and the additional fields. */
export const coverageFields = {
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
}
export const CoverageSpec = z.strictObject(coverageFields)
