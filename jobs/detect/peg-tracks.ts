import type { ClickHouseClient } from '@clickhouse/client'
import { agreedBreakEvents, type FoundEvent, quoteLossEvents } from '../../clickhouse/events/types.js'
import { insertTracks } from '../../clickhouse/peg/agreed/breaks.js'
import { knownOnTracks } from '../../clickhouse/peg/agreed/known-starts.js'
import { AGREED_PRICE } from '../../clickhouse/peg/agreed/rules.js'
import { stablePrices } from '../../clickhouse/peg/agreed/stable-prices.js'
import { type AgreedBreak, continueTracks, type QuoteLoss, trackStatesAt } from '../../clickhouse/peg/agreed/tracks.js'
import { quoteStatus } from '../../clickhouse/peg/samples.js'
import type { Slots } from '../schedule/run-slots.js'
import { announceFound } from './announce.js'
import { type SlotSpan, spansOf, startOf } from './slot-start.js'

const TYPES = ['agreed_break.started', 'agreed_break.ended', 'peg_quote.lost', 'peg_quote.back'] as const

/**
 * Finds the breaks of every stable on the agreed tracks and the losses of its quote, in the samples since the slot before, from
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
  const samples = await stablePrices(clickhouse, AGREED_PRICE, { from, to: ends.at(-1) ?? from })
  const ofSlots = continueTracks(before, samples, ends).map((tracks, i) => ({ ...tracks, ...(spans[i] as SlotSpan) }))
  await insertTracks(clickhouse, ofSlots, { after, revision })

  const moved = ofSlots.flatMap(({ breaks, lost, at, span }) =>
    [...breaks, ...lost]
      .filter(({ confirmed_at, ended_at }) => Math.max(confirmed_at, ended_at ?? 0) > span.after)
      .map((track) => ({ found: track, at })),
  )
  const withKnownStart = await knownOnTracks(clickhouse, moved)
  const announcements = spans.map(async ({ after, at, span }) => {
    const tracks = withKnownStart.filter((track) => track.at === at)
    const events = (await Promise.all(tracks.map(({ found: track }) => eventsOf(clickhouse, track, span)))).flat()
    return { after, at, found: events.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime()) }
  })
  await announceFound(clickhouse, await Promise.all(announcements), TYPES, { revision })
  return ofSlots.map(({ breaks, lost }) => breaks.length + lost.length)
}

async function eventsOf(
  clickhouse: ClickHouseClient,
  track: AgreedBreak | QuoteLoss,
  span: SlotSpan['span'],
): Promise<FoundEvent[]> {
  if (track.kind === 'deviation') return agreedBreakEvents(track, span)
  const { stable, started_at, started_block } = track
  const at = new Date(started_at * 1000)
  const status = await quoteStatus(clickhouse, { stable, block_time: at, block_number: started_block })
  return quoteLossEvents({ ...track, status }, span)
}
