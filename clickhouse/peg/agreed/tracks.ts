import { z } from 'zod'
import { defineOptionalRow } from '../../store/define-query.js'
import { BreakFinder, FinderState, type FoundDeviation, type FoundUnquoted } from '../hysteresis.js'
import { AGREED_TRACKS } from './rules.js'
import { PriceCursor, type StablePrices } from './stable-prices.js'

/** What the finders of each stable know after some samples. */
const TrackStates = z.record(z.string(), z.object({ mild: FinderState, severe: FinderState }))
export type TrackStates = z.infer<typeof TrackStates>

/** What was known at the end of the newest slot at or before `at`, whose time is in unix seconds; null if there is none. */
export const trackStatesAt = defineOptionalRow({
  name: 'track_states',
  params: z.object({ at: z.date() }),
  row: z.object({
    slot_at: z.int(),
    states: z
      .string()
      .transform((text): unknown => JSON.parse(text))
      .pipe(TrackStates),
  }),
  sql: `
    SELECT toUnixTimestamp(slot_at) AS slot_at, states FROM peg_track_states
    WHERE peg_track_states.slot_at <= {at: DateTime}
    ORDER BY peg_track_states.slot_at DESC, revision DESC LIMIT 1`,
})

/** A break of a stable on one of the agreed tracks. */
export type AgreedBreak = FoundDeviation & { stable: string; severity: 'mild' | 'severe' }

/** Time for which a stable had lost its quote. */
export type QuoteLoss = FoundUnquoted & { stable: string }

/** What is known at the end of a slot, and what was found in its samples, in progress or ended. */
export type TracksAtSlot = { states: TrackStates; breaks: AgreedBreak[]; lost: QuoteLoss[] }

/**
 * Continues the finders of all stables with the samples that follow, slot by slot: `ends` has the times of the slots. A
 * quote is lost or not, whatever the severity.
 */
export function continueTracks(
  before: TrackStates,
  samples: readonly StablePrices[],
  ends: readonly number[],
): TracksAtSlot[] {
  const pricesOf = new Map(samples.map(({ stable, prices }) => [stable, new PriceCursor(prices)]))
  let states = before
  return ends.map((end) => {
    const next: TracksAtSlot = { states: {}, breaks: [], lost: [] }
    for (const stable of [...new Set([...Object.keys(before), ...pricesOf.keys()])].sort()) {
      const mild = new BreakFinder(AGREED_TRACKS.mild, states[stable]?.mild)
      const severe = new BreakFinder(AGREED_TRACKS.severe, states[stable]?.severe)
      const read = pricesOf.get(stable)?.addUntil(end, [mild, severe]) ?? 0
      // A stable has no state before its first sample.
      if (read === 0 && !states[stable]) continue
      next.states[stable] = { mild: mild.state, severe: severe.state }
      for (const [severity, finder] of Object.entries({ mild, severe }) as ['mild' | 'severe', BreakFinder][])
        for (const found of finder.found()) {
          if (found.kind === 'deviation') next.breaks.push({ ...found, stable, severity })
          else if (severity === 'mild') next.lost.push({ ...found, stable })
        }
    }
    states = next.states
    return next
  })
}
