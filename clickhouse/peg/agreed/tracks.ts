import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow } from '../../store/define-query.js'
import { insertRows } from '../../store/insert.js'
import type { Severity } from '../break-filter.js'
import { BreakFinder, FinderState, type FoundDeviation, type FoundUnquoted } from '../hysteresis.js'
import { BREAK_RULES } from '../rules.js'
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

/** Stores what is known at the end of each slot. A repeat replaces the rows with the same, with a token of its own like that of excursions. */
export function insertTrackStates(
  clickhouse: ClickHouseClient,
  slots: readonly { at: Date; states: TrackStates }[],
  revision: number,
): Promise<void> {
  const rows = slots.map(({ at, states }) => ({
    slot_at: at.getTime() / 1000,
    revision,
    states: JSON.stringify(states),
  }))
  return insertRows(clickhouse, 'peg_track_states', rows, randomUUID())
}

/** A break of a stable on the agreed track. */
export type AgreedBreak = FoundDeviation & { stable: string; severity: Severity }

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
      const mild = new BreakFinder(BREAK_RULES.agreed.mild, states[stable]?.mild)
      const severe = new BreakFinder(BREAK_RULES.agreed.severe, states[stable]?.severe)
      const read = pricesOf.get(stable)?.addUntil(end, [mild, severe]) ?? 0
      // A stable has no state before its first sample.
      if (read === 0 && !states[stable]) continue
      next.states[stable] = { mild: mild.state, severe: severe.state }
      for (const [severity, finder] of Object.entries({ mild, severe }) as [Severity, BreakFinder][])
        for (const found of finder.found()) {
          if (found.kind === 'deviation') next.breaks.push({ ...found, stable, severity })
          else if (severity === 'mild') next.lost.push({ ...found, stable })
        }
    }
    states = next.states
    return next
  })
}
