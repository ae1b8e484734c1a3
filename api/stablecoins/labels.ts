import { z } from 'zod'
import { curatedFile, heldAt, holdsFrom } from '../../process/curated.js'
import labels from './labels.json' with { type: 'json' }

/**
 * The owner of an account, and the source of that information. It counts from `holds_from` on, until a later entry of the
 * same address does; entries that are published are never changed.
 */
const LabelEntry = z.strictObject({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  holds_from: holdsFrom,
  label: z.string().min(1),
  /** Whether it is a contract, whose tokens are those of others. */
  is_contract: z.boolean().default(false),
  source: z.url(),
})

const byAddress = new Map<string, z.infer<typeof LabelEntry>[]>()
for (const entry of curatedFile(LabelEntry).parse(labels))
  byAddress.set(entry.address, [...(byAddress.get(entry.address) ?? []), entry])

/** A label in an answer. */
export const Label = z.string().nullable().meta({ description: 'Who owns the address, if known' })

/** The curated label of a lower-case address at an instant; null if there was none. */
export const labelOf = (address: string, at: Date): string | null =>
  heldAt(byAddress.get(address) ?? [], at)?.label ?? null

/** The addresses that were known to be contracts at an instant, in lower case. */
export const contractsAt = (at: Date): string[] =>
  [...byAddress].flatMap(([address, ofAddress]) => (heldAt(ofAddress, at)?.is_contract ? [address] : []))
