import { z } from 'zod'

/** The reserves answer, field by field as specified; there may be more fields. */
export const ReservesSpec = z.looseObject({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  // A number, or null if supply or price was not measured.
  total_backing_usd: z.number().nullable(),
  reserves: z
    .array(
      z.strictObject({
        reserve_type: z.enum([
          'protocol_native',
          'bridged_fiat',
          'fiat_backed',
          'crypto_mixed',
          'crypto_backed',
          'yield_wrapper',
          'unknown',
        ]),
        backing_usd: z.number().nullable(),
        // null if no issuer is known.
        attestation_source: z.url().nullable(),
        attested_at: z.iso.datetime().nullable(),
        verified_by: z.string(),
        notes: z.strictObject({ label: z.string(), issuer: z.string(), backing_model: z.string() }),
      }),
    )
    .min(1),
})
