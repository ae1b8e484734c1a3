import { z } from 'zod'

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

const fields = {
  direction: z.enum(['below', 'above']),
  started_at: timestamp,
  duration_seconds: z.number().int().min(0),
  max_deviation_bps: z.number().min(0),
  started_block: z.number().int().min(0),
  standing_tokens: z.literal([0, 1000, 10_000, 100_000, 1_000_000]).nullable(),
  thin: z.boolean().nullable(),
}

const address = z.string().regex(/^0x[0-9a-f]{40}$/)

const eventsWith = (more: z.core.$ZodLooseShape) =>
  z.array(
    z.discriminatedUnion('ongoing', [
      z.strictObject({
        ...more,
        severity: z.enum(['mild', 'severe']),
        ...fields,
        ended_at: z.null(),
        ended_block: z.null(),
        ongoing: z.literal(true),
        published_at: z.iso.datetime().nullable(),
      }),
      z.strictObject({
        ...more,
        severity: z.enum(['mild', 'severe']),
        ...fields,
        ended_at: timestamp,
        ended_block: z.number().int().min(0),
        ongoing: z.literal(false),
        published_at: z.iso.datetime().nullable(),
      }),
    ]),
  )

/** The answer of GET /v1/stablecoins/{address}/peg-events, field by field as specified. */
export const PegEventsSpec = z.object({ address, events: eventsWith({}) })

/** The answer of GET /v1/stablecoins/peg-events. */
export const AllPegEventsSpec = z.strictObject({
  events: eventsWith({ address, symbol: z.string(), symbol_shared: z.boolean() }),
  searched_from: timestamp.nullable(),
  searched_until: timestamp.nullable(),
  complete_until: timestamp.nullable(),
  coverage: z.looseObject({ status: z.enum(['complete', 'partial', 'unavailable']) }),
  next_cursor: z.string().nullable(),
})
