import type { ClickHouseClient } from '@clickhouse/client'
import { breakEvents, type FoundEvent, quoteLossEvents } from '../../clickhouse/events/types.js'
import { startsInside } from '../../clickhouse/peg/agreed/known-starts.js'
import { stablePrices } from '../../clickhouse/peg/agreed/stable-prices.js'
import {
  type AgreedBreak,
  continueTracks,
  insertTrackStates,
  type QuoteLoss,
  trackStatesAt,
} from '../../clickhouse/peg/agreed/tracks.js'
import { excursionOf, storeExcursions } from '../../clickhouse/peg/excursions.js'
import { BREAK_PRICES } from '../../clickhouse/peg/rules.js'
import { quoteStatus } from '../../clickhouse/peg/samples.js'
import type { Slots } from '../schedule/run-slots.js'
import { announceLasting } from './announce-lasting.js'
import { type SlotSpan, spansOf, startOf } from './slot-start.js'

const TYPES = ['agreed_break.started', 'agreed_break.ended', 'peg_quote.lost', 'peg_quote.back'] as const

/**
 * Finds the breaks of every stable on the agreed track and the losses of its quote, in the samples since the slot before, from
 * what was known at its end. Stores the breaks, each as known at the end of the last slot that has seen it, and what is known at
 * the end of every slot; resolves to the number of breaks and losses of each slot that ended in it or are in progress. Like the
 * detector of peg events, it announces what started or ended in a slot, if it is known when it started, and retracts what is not
 * found again. Repeating slots, also with others before or after them, changes nothing.
 */
export async function detectPegTracks(clickhouse: ClickHouseClient, slots: Slots): Promise<number[]> {
  const [{ revision }] = slots
  const { after, isFirst } = await startOf(clickhouse, slots[0], 'peg-tracks')
  const spans = spansOf(slots, after)
  const from = after.getTime() / 1000
  const newest = isFirst ? null : await trackStatesAt(clickhouse, { at: after })
  const before = newest?.slot_at === from ? newest.states : {}
  const ends = spans.map(({ span }) => span.at)
  const samples = await stablePrices(clickhouse, BREAK_PRICES.agreed, { from, to: ends.at(-1) ?? from })
  const ofSlots = continueTracks(before, samples, ends).map((tracks, i) => ({ ...tracks, ...(spans[i] as SlotSpan) }))
  const excursions = ofSlots.map(({ breaks, at }) => ({ at, excursions: breaks.map(excursionOf) }))
  await storeExcursions(clickhouse, excursions, { track: 'agreed', revision, after })
  await insertTrackStates(clickhouse, ofSlots, revision)
  const slotsFound = ofSlots.map(({ breaks, lost, ...slot }) => ({ ...slot, found: [...breaks, ...lost] }))
  await announceLasting(clickhouse, slotsFound, {
    types: TYPES,
    revision,
    startsInside: (track, fromBlock) => startsInside(clickhouse, track, fromBlock),
    eventsOf: (track, span) => eventsOf(clickhouse, track, span),
  })
  return slotsFound.map(({ found }) => found.length)
}

async function eventsOf(
  clickhouse: ClickHouseClient,
  track: AgreedBreak | QuoteLoss,
  span: SlotSpan['span'],
): Promise<FoundEvent[]> {
  if (track.kind === 'deviation') return breakEvents('agreed', excursionOf(track), span)
  const { stable, started_at, started_block } = track
  const at = new Date(started_at * 1000)
  const status = await quoteStatus(clickhouse, { stable, block_time: at, block_number: started_block })
  return quoteLossEvents({ ...track, status }, span)
}
