import { z } from 'zod'
import { curatedFile, heldAt, holdsFrom } from '../../process/curated.js'
import entries from './issuers.json' with { type: 'json' }
import { RESERVE_TYPES } from './reserves.js'

/**
 * What is known about a stable's issuer. `chain_id` is null for a token that the protocol itself has on every chain.
 * `holds_from`: the entry counts from this moment on, until a later entry of the same address does; entries that are
 * published are never changed. `attested_at` is when the entry was last compared with its sources; null if that has not
 * been done.
 */
const Issuer = z.strictObject({
  symbol: z.string().min(1),
  addresses: z
    .array(z.strictObject({ chain_id: z.int().positive().nullable(), address: z.string().regex(/^0x[0-9a-f]{40}$/) }))
    .min(1),
  holds_from: holdsFrom,
  reserve_type: z.enum(RESERVE_TYPES).exclude(['unknown']),
  label: z.string().min(1),
  issuer: z.string().min(1),
  backing_model: z.string().min(1),
  attestation_source: z.url({ protocol: /^https$/ }).nullable(),
  attested_at: z.iso.datetime().nullable(),
  sources: z.array(z.url({ protocol: /^https$/ })).min(1),
})
type Issuer = z.infer<typeof Issuer>

/** The registry, curated by hand, in the order in which entries hold. Loading it fails if an entry is invalid. */
export const ISSUERS: readonly Issuer[] = curatedFile(Issuer).parse(entries)

/**
 * The entry of a stable on a chain that held at an instant, by its lower-case address; null if its issuer was not known
 * then.
 */
export const issuerOf = (chainId: number, stable: string, at: Date, issuers = ISSUERS): Issuer | null =>
  heldAt(
    issuers.filter(({ addresses }) =>
      addresses.some(({ chain_id, address }) => address === stable && (chain_id === null || chain_id === chainId)),
    ),
    at,
  )
