import { z } from 'zod'
import labels from './labels.json' with { type: 'json' }

/** The owner of an account, and the source of that information. */
const LabelEntry = z.strictObject({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  label: z.string().min(1),
  source: z.url(),
})

const known = new Map(
  z
    .array(LabelEntry)
    .parse(labels)
    .map(({ address, label }) => [address, label]),
)

/** A label in an answer. */
export const Label = z.string().nullable().meta({ description: 'Who owns the address, if known' })

/** The curated label of a lower-case address; null if there is none. */
export const labelOf = (address: string): string | null => known.get(address) ?? null
