import type { ClickHouseClient } from '@clickhouse/client'
import { pegBreakEvents } from '../../clickhouse/events/types.js'
import { excursionsAt, outdatedPegEvents, pegExcursions, TRACKS } from '../../clickhouse/peg/break-detection.js'
import { insertPegEvents, type PegExcursion } from '../../clickhouse/peg/breaks.js'
import { knownStarts, priceBefore } from '../../clickhouse/peg/known-starts.js'
import { measuredStandings } from '../../clickhouse/peg/standing.js'
import type { Slots } from '../schedule/run-slots.js'
import { announceFound } from './announce.js'
import { type SlotSpan, spansOf, startOf } from './slot-start.js'

const TYPES = ['peg_break.started', 'peg_break.ended'] as const

/**
 * Finds the excursions of every stable from its peg in the samples since the slot before, continues those that were in progress,
 * and stores each as known at the end of the last slot that has seen it. Resolves to their number in each slot. The result is a
 * function of the samples up to the last slot, provided that the slot before the first one is done: slots are done in order, and
 * after a rollback or backfill every slot from there on is done again under the next revision. Announces breaks that started or
 * ended in a slot, each once, if it is known when they started, and retracts announced ones that are not found again. Repeating
 * slots, also with others before or after them, changes nothing.
 */
export async function detectPegEvents(clickhouse: ClickHouseClient, slots: Slots): Promise<number[]> {
  const [{ revision }] = slots
  const { after } = await startOf(clickhouse, slots[0], 'peg-events')
  const spans = spansOf(slots, after)
  const before = await excursionsAt(clickhouse, { at: after })
  const range = { after: after.getTime() / 1000, ends: spans.map(({ span }) => span.at) }
  const excursions = await withStanding(clickhouse, await pegExcursions(clickhouse, before, range), spans)
  await store(clickhouse, excursions, spans, { revision, after })

  const moved = spans.flatMap(({ at, span }, i) =>
    (excursions[i] ?? [])
      .filter((excursion) => pegBreakEvents(excursion, span).length > 0)
      .map((excursion) => ({ found: excursion, at })),
  )
  const withKnownStart = await knownStarts(clickhouse, moved, async ({ severity, ...excursion }, from_block) => {
    const { deviation_micros, isFirst } = await priceBefore(clickhouse, { ...excursion, from_block })
    return deviation_micros === null ? isFirst : deviation_micros <= TRACKS[severity].allowed_micros
  })
  const ofSlots = spans.map(({ after, at, span }) => {
    const events = withKnownStart
      .filter((excursion) => excursion.at === at)
      .flatMap(({ found: excursion }) => pegBreakEvents(excursion, span))
    // The earliest is announced first.
    return { after, at, found: events.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime()) }
  })
  await announceFound(clickhouse, ofSlots, TYPES, { revision })
  return excursions.map(({ length }) => length)
}

const keyOf = ({ stable, severity, started_at, started_block }: PegExcursion): string =>
  `${stable} ${severity} ${started_at} ${started_block}`

/** The excursions of slots, from the one in which each was confirmed on with the number of tokens for which it stood then. */
async function withStanding(
  clickhouse: ClickHouseClient,
  excursions: readonly PegExcursion[][],
  spans: readonly SlotSpan[],
): Promise<PegExcursion[][]> {
  const confirmed = spans.flatMap(({ span }, i) =>
    (excursions[i] ?? []).flatMap((excursion) => {
      const { severity, confirmed_at } = excursion
      if (confirmed_at === null || confirmed_at <= span.after) return []
      return [{ ...excursion, confirmed_at, allowed_micros: TRACKS[severity].allowed_micros }]
    }),
  )
  const standings = await measuredStandings(clickhouse, confirmed)
  const measured = new Map(confirmed.map((excursion, i) => [keyOf(excursion), standings[i]]))
  return excursions.map((ofSlot) =>
    ofSlot.map((excursion) => {
      const standing_tokens = excursion.confirmed_at === null ? undefined : measured.get(keyOf(excursion))
      return standing_tokens === undefined ? excursion : { ...excursion, standing_tokens }
    }),
  )
}

/**
 * Stores what the last slot that has seen an excursion knows of it. Deletes what earlier revisions have found after `after` and
 * what is not found again: it may be based on blocks that were rolled back, or lack blocks that a backfill has added.
 */
async function store(
  clickhouse: ClickHouseClient,
  excursions: readonly PegExcursion[][],
  spans: readonly SlotSpan[],
  { revision, after }: { revision: number; after: Date },
): Promise<void> {
  const newest = new Map(
    spans.flatMap(({ span }, i) =>
      (excursions[i] ?? []).map(
        (excursion) => [keyOf(excursion), { ...excursion, slot_at: span.at, is_deleted: 0 as const }] as const,
      ),
    ),
  )
  const outdated = await outdatedPegEvents(clickhouse, { revision, after })
  const deleted = outdated.filter((excursion) => !newest.has(keyOf(excursion)))
  await insertPegEvents(
    clickhouse,
    [
      ...deleted.map((excursion) => ({ ...excursion, slot_at: after.getTime() / 1000, is_deleted: 1 as const })),
      ...newest.values(),
    ].map((row) => ({ ...row, revision })),
  )
}
