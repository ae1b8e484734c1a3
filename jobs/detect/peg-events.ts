import type { ClickHouseClient } from '@clickhouse/client'
import { breakEvents } from '../../clickhouse/events/types.js'
import { excursionsAt, pegExcursions } from '../../clickhouse/peg/break-detection.js'
import { excursionKey, type PegExcursion, storeExcursions } from '../../clickhouse/peg/excursions.js'
import { priceBefore } from '../../clickhouse/peg/known-starts.js'
import { allowedMicros } from '../../clickhouse/peg/rules.js'
import { measuredStandings } from '../../clickhouse/peg/standing.js'
import type { Slots } from '../schedule/run-slots.js'
import { announceLasting } from './announce-lasting.js'
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
  const ofSlots = spans.map((span, i) => ({ ...span, excursions: excursions[i] ?? [] }))
  await storeExcursions(clickhouse, ofSlots, { track: 'published', revision, after })
  const slotsFound = ofSlots.map(({ excursions: found, ...span }) => ({ ...span, found }))
  await announceLasting(clickhouse, slotsFound, {
    types: TYPES,
    revision,
    startsInside: async ({ severity, ...excursion }, from_block) => {
      const { deviation_micros, isFirst } = await priceBefore(clickhouse, { ...excursion, from_block })
      return deviation_micros === null ? isFirst : deviation_micros <= allowedMicros(severity)
    },
    eventsOf: (excursion, span) => breakEvents('published', excursion, span),
  })
  return excursions.map(({ length }) => length)
}

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
      return [{ ...excursion, confirmed_at, allowed_micros: allowedMicros(severity) }]
    }),
  )
  const standings = await measuredStandings(clickhouse, confirmed)
  const measured = new Map(confirmed.map((excursion, i) => [excursionKey(excursion), standings[i]]))
  return excursions.map((ofSlot) =>
    ofSlot.map((excursion) => {
      const standing_tokens = excursion.confirmed_at === null ? undefined : measured.get(excursionKey(excursion))
      return standing_tokens === undefined ? excursion : { ...excursion, standing_tokens }
    }),
  )
}
