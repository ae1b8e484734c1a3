import type { ClickHouseClient } from '@clickhouse/client'
import { pegBreakEvents } from '../../clickhouse/events/types.js'
import { outdatedPegEvents, pegExcursions, TRACKS } from '../../clickhouse/peg/break-detection.js'
import { insertPegEvents, maxPegDeviation, type PegExcursion } from '../../clickhouse/peg/breaks.js'
import { knownStarts, priceBefore } from '../../clickhouse/peg/known-starts.js'
import { measuredStanding } from '../../clickhouse/peg/standing.js'
import type { Slot } from '../schedule/run-slots.js'
import { announceFound } from './announce.js'
import { startOf } from './slot-start.js'

const fromSeconds = (seconds: number): Date => new Date(seconds * 1000)
const toSeconds = (instant: Date): number => instant.getTime() / 1000

/**
 * Finds the excursions of every stable from its peg in the samples since the previous slot, continues those that were
 * in progress, and stores all as known at `slot.at`. Resolves to their number. The result is a function of the samples
 * up to `slot.at`, provided that the previous slot is done: slots are done in order, and after a rollback or backfill
 * every slot from there on is done again under the next revision. Announces breaks that started or ended in the slot,
 * each once, if it is known when they started, and retracts announced ones that are not found again. Repeating a slot
 * changes nothing.
 */
export async function detectPegEvents(clickhouse: ClickHouseClient, slot: Slot): Promise<number> {
  const { after } = await startOf(clickhouse, slot, 'peg-events')
  await undoAfter(clickhouse, slot, after)
  const found: PegExcursion[] = []
  for (const excursion of await pegExcursions(clickhouse, { after, to: slot.at }))
    found.push(await withStanding(clickhouse, excursion, after))
  const written = { revision: slot.revision, slot_at: toSeconds(slot.at), is_deleted: 0 } as const
  await insertPegEvents(
    clickhouse,
    found.map((excursion) => ({ ...excursion, ...written })),
    slot.token,
  )
  const span = { after: toSeconds(after), at: toSeconds(slot.at) }
  const moved = found.filter((excursion) => pegBreakEvents(excursion, span).length > 0)
  const known = await knownStarts(clickhouse, moved, slot.at, async (excursion, from_block) => {
    const { deviation_micros, isFirst } = await priceBefore(clickhouse, { ...excursion, from_block })
    return deviation_micros === null ? isFirst : deviation_micros <= TRACKS[excursion.severity].allowed_micros
  })
  const events = known.flatMap((excursion) => pegBreakEvents(excursion, span))
  // The earliest is announced first.
  events.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime())
  await announceFound(clickhouse, events, { types: ['peg_break.started', 'peg_break.ended'], after, to: slot.at }, slot)
  return found.length
}

/** The excursion, if it was confirmed after `after`, with the number of tokens for which it stood then. */
async function withStanding(clickhouse: ClickHouseClient, excursion: PegExcursion, after: Date): Promise<PegExcursion> {
  const { severity, direction, confirmed_at } = excursion
  if (direction === null || confirmed_at === null || confirmed_at <= toSeconds(after)) return excursion
  const { allowed_micros } = TRACKS[severity]
  const limit = { direction, allowed_micros }
  return { ...excursion, standing_tokens: await measuredStanding(clickhouse, { ...excursion, confirmed_at }, limit) }
}

/**
 * Undoes the results of earlier revisions for the time after `after`, since they may be based on blocks that were
 * rolled back, or lack blocks that a backfill has added. Deletes excursions that began later, and restores those that
 * were in progress to what was known at `after`.
 */
async function undoAfter(clickhouse: ClickHouseClient, slot: Slot, after: Date): Promise<void> {
  const outdated = await outdatedPegEvents(clickhouse, { revision: slot.revision, after })
  const limit = toSeconds(after)
  const restored = async (excursion: PegExcursion) => {
    const { stable, started_at, started_block, confirmed_at } = excursion
    const written = { revision: slot.revision, slot_at: limit }
    if (started_at > limit) return { ...excursion, ...written, is_deleted: 1 as const }
    const since = { stable, started_at: fromSeconds(started_at), started_block }
    const max = await maxPegDeviation(clickhouse, { ...since, to: after })
    const isConfirmed = confirmed_at !== null && confirmed_at <= limit
    return {
      ...excursion,
      max_deviation_micros: max ?? excursion.max_deviation_micros,
      confirmed_at: isConfirmed ? confirmed_at : null,
      standing_tokens: isConfirmed ? excursion.standing_tokens : null,
      ended_at: null,
      ended_block: null,
      ...written,
      is_deleted: 0 as const,
    }
  }
  const rows = []
  for (const excursion of outdated) rows.push(await restored(excursion))
  await insertPegEvents(clickhouse, rows, `${slot.token}:before`)
}
