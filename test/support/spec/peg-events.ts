import { z } from 'zod'

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

const fields = {
  direction: z.enum(['below', 'above']).nullable(),
  started_at: timestamp,
  duration_seconds: z.number().int().min(0),
  max_deviation_bps: z.number().min(0),
  started_block: z.number().int().min(0),
  standing_tokens: z.literal([0, 1000, 10_000, 100_000, 1_000_000]).nullable(),
  thin: z.boolean().nullable(),
}

/** The answer of GET /v1/stablecoins/{address}/peg-events, field by field as specified. */
export const PegEventsSpec = z.object({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  events: z.array(
    z.discriminatedUnion('ongoing', [
      z.strictObject({
        severity: z.enum(['mild', 'severe']),
        ...fields,
        ended_at: z.null(),
        ended_block: z.null(),
        ongoing: z.literal(true),
        published_at: z.iso.datetime().nullable(),
      }),
      z.strictObject({
        severity: z.enum(['mild', 'severe']),
        ...fields,
        ended_at: timestamp,
        ended_block: z.number().int().min(0),
        ongoing: z.literal(false),
        published_at: z.iso.datetime().nullable(),
      }),
    ]),
  ),
})
