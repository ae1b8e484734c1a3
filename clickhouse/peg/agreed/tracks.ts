import { z } from 'zod'
import { defineOptionalRow, defineQuery } from '../../store/define-query.js'
import { BreakFinder, FinderState, type FoundDeviation, type FoundUnquoted } from '../hysteresis.js'
import { REFERENCE_STABLE } from '../price.js'
import { pricesSql } from './prices.js'
import { AGREED_PRICE, AGREED_TRACKS } from './rules.js'

/** What the finders of each stable know after some samples. */
const TrackStates = z.record(z.string(), z.object({ mild: FinderState, severe: FinderState }))
export type TrackStates = z.infer<typeof TrackStates>

/** Samples of a stable in order of their blocks: time in unix seconds, block, distance from 1 in millionths or UNQUOTED. */
const StablePrices = z.object({ stable: z.string(), prices: z.array(z.tuple([z.int(), z.int(), z.int()])) })
type StablePrices = z.infer<typeof StablePrices>

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

/**
 * The agreed prices of every stable, or of `only`, after `from` up to and including `to`, in unix seconds. Without those of the
 * reference stable, which are 1 by definition.
 */
export const agreedPrices = defineQuery({
  name: 'agreed_prices',
  params: z.object({ from: z.int(), to: z.int(), only: z.string().default('') }),
  row: StablePrices,
  sql: `
    SELECT stable, arraySort(groupArray((toUnixTimestamp(block_time), toUInt32(block_number), distance))) AS prices
    FROM (${pricesSql(AGREED_PRICE, `stable != '${REFERENCE_STABLE}' AND (stable = {only: String} OR {only: String} = '')`)})
    GROUP BY stable`,
})

/** A break of a stable on one of the agreed tracks. */
export type AgreedBreak = FoundDeviation & { stable: string; severity: 'mild' | 'severe' }

/** Time for which a stable had lost its quote. */
export type QuoteLoss = FoundUnquoted & { stable: string }

/**
 * Continues the finders of all stables with the samples that follow: what they know then, and what they found in these
 * samples, in progress or ended. A quote is lost or not, whatever the severity.
 */
export function continueTracks(
  before: TrackStates,
  samples: readonly StablePrices[],
): { states: TrackStates; breaks: AgreedBreak[]; lost: QuoteLoss[] } {
  const pricesOf = new Map(samples.map(({ stable, prices }) => [stable, prices]))
  const states: TrackStates = {}
  const breaks: AgreedBreak[] = []
  const lost: QuoteLoss[] = []
  for (const stable of [...new Set([...Object.keys(before), ...pricesOf.keys()])].sort()) {
    const mild = new BreakFinder(AGREED_TRACKS.mild, before[stable]?.mild)
    const severe = new BreakFinder(AGREED_TRACKS.severe, before[stable]?.severe)
    for (const [time, block, distance] of pricesOf.get(stable) ?? []) {
      mild.add(time, block, distance)
      severe.add(time, block, distance)
    }
    states[stable] = { mild: mild.state, severe: severe.state }
    for (const [severity, finder] of Object.entries({ mild, severe }) as ['mild' | 'severe', BreakFinder][])
      for (const found of finder.found()) {
        if (found.kind === 'deviation') breaks.push({ ...found, stable, severity })
        else if (severity === 'mild') lost.push({ ...found, stable })
      }
  }
  return { states, breaks, lost }
}
