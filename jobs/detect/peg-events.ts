import type { ClickHouseClient } from '@clickhouse/client'
import { historyStart } from '../../clickhouse/chain/history.js'
import { pegBreakEvents, retractedPegBreak } from '../../clickhouse/events/types.js'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { lostPegBreaks, outdatedPegEvents, pegExcursions } from '../../clickhouse/peg/break-detection.js'
import { insertPegEvents, maxPegDeviation, type PegExcursion } from '../../clickhouse/peg/breaks.js'
import type { Slot } from '../schedule/run-slots.js'
import { announce } from './announce.js'

const fromSeconds = (seconds: number): Date => new Date(seconds * 1000)
const toSeconds = (instant: Date): number => instant.getTime() / 1000

/**
 * Finds the excursions of every stable from its peg in the samples since the slot before, going on from those that were
 * going on then, and writes them as known at `slot.at`. Returns how many. What it does is a function of the samples up
 * to `slot.at`, provided that the slot before has been done: slots are done in order, and after a rollback or a backfill
 * of blocks every slot from there on under the next revision. Events that started or ended in the slot are announced,
 * each once, and so is that one never was, where it was announced and is not found again. Repeating a slot changes nothing.
 */
export async function detectPegEvents(clickhouse: ClickHouseClient, slot: Slot): Promise<number> {
  const previous = toSeconds(slot.at) - PERIOD_SECONDS['peg-events']
  const start = await historyStart(clickhouse)
  // The first slot is the first one after the first block, which may be where a slot would have been.
  const after = fromSeconds(start && toSeconds(start) === previous ? previous - 1 : previous)
  await forgetAfter(clickhouse, slot, after)
  const found = await pegExcursions(clickhouse, { after, to: slot.at })
  const known = { revision: slot.revision, slot_at: toSeconds(slot.at), is_deleted: 0 } as const
  await insertPegEvents(
    clickhouse,
    found.map((excursion) => ({ ...excursion, ...known })),
    slot.token,
  )
  const span = { after: toSeconds(after), at: toSeconds(slot.at) }
  const events = found.flatMap((excursion) => pegBreakEvents(excursion, span))
  // What started first is told first.
  events.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime())
  await announce(clickhouse, events, slot)
  if (slot.revision > 0) await retract(clickhouse, slot)
  return found.length
}

/** Announces the end of breaks that the slots of this revision, done up to now, no longer find. */
async function retract(clickhouse: ClickHouseClient, slot: Slot): Promise<void> {
  const lost = await lostPegBreaks(clickhouse, { revision: slot.revision, at: slot.at })
  const events = lost.map(({ max_deviation_bps, ...pegBreak }) => retractedPegBreak(pegBreak, max_deviation_bps))
  await announce(clickhouse, events, slot)
}

/**
 * Takes back what slots of earlier revisions have said about the time after `after`, since it may rest on blocks that
 * were rolled back, or lack such as a backfill has added. What began later never was; what was going on is again as it
 * was known at that moment.
 */
async function forgetAfter(clickhouse: ClickHouseClient, slot: Slot, after: Date): Promise<void> {
  const outdated = await outdatedPegEvents(clickhouse, { revision: slot.revision, after })
  const limit = toSeconds(after)
  const earlier = async (excursion: PegExcursion) => {
    const { stable, started_at, started_block, confirmed_at } = excursion
    const written = { revision: slot.revision, slot_at: limit }
    if (started_at > limit) return { ...excursion, ...written, is_deleted: 1 as const }
    const since = { stable, started_at: fromSeconds(started_at), started_block }
    const max = await maxPegDeviation(clickhouse, { ...since, to: after })
    return {
      ...excursion,
      max_deviation_micros: max ?? excursion.max_deviation_micros,
      confirmed_at: confirmed_at !== null && confirmed_at <= limit ? confirmed_at : null,
      ended_at: null,
      ended_block: null,
      ...written,
      is_deleted: 0 as const,
    }
  }
  const rows = []
  for (const excursion of outdated) rows.push(await earlier(excursion))
  await insertPegEvents(clickhouse, rows, `${slot.token}:before`)
}
