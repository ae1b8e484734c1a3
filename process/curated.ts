import { z } from 'zod'

/** When a curated entry begins to count. */
export const holdsFrom = z.iso.datetime()

/** An entry of a curated file. */
type Curated = { holds_from: string }

/**
 * A curated file. Its entries are in the order in which they hold, and a published one is never changed: what becomes
 * known later is appended, so that answers about the past, and snapshots that are redone, keep what counted then.
 */
export const curatedFile = <Entry extends z.ZodType<Curated>>(entry: Entry) =>
  z.array(entry).superRefine((entries, context) => {
    for (const [i, { holds_from }] of entries.entries()) {
      const before = entries[i - 1]
      if (before && Date.parse(before.holds_from) > Date.parse(holds_from))
        context.addIssue({ code: 'custom', path: [i, 'holds_from'], message: 'is before that of the entry above it' })
    }
  })

/** Of entries about the same thing, the one that counts at an instant; null before the first. */
export const heldAt = <Entry extends Curated>(entries: readonly Entry[], at: Date): Entry | null =>
  entries.findLast(({ holds_from }) => Date.parse(holds_from) <= at.getTime()) ?? null
