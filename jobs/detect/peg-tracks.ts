import type { ClickHouseClient } from '@clickhouse/client'
import { agreedBreakEvents, quoteLossEvents } from '../../clickhouse/events/types.js'
import { insertTracks } from '../../clickhouse/peg/agreed/breaks.js'
import { knownOnTracks } from '../../clickhouse/peg/agreed/known-starts.js'
import { agreedPrices, continueTracks, trackStatesAt } from '../../clickhouse/peg/agreed/tracks.js'
import { quoteStatus } from '../../clickhouse/peg/samples.js'
import type { Slot } from '../schedule/run-slots.js'
import { announceFound } from './announce.js'
import { startOf } from './slot-start.js'

const toSeconds = (instant: Date): number => instant.getTime() / 1000

const TYPES = ['agreed_break.started', 'agreed_break.ended', 'peg_quote.lost', 'peg_quote.back'] as const

/**
 * Finds the breaks of every stable on the agreed tracks and the losses of its quote, in the samples since the previous slot,
 * from what was known at the end of that slot. Stores the breaks and what is known at `slot.at`; resolves to the number of
 * breaks and losses that ended in the slot or are in progress. Like the detector of peg events, it announces what started or
 * ended in the slot, if it is known when it started, and retracts what is not found again. Repeating a slot changes nothing.
 */
export async function detectPegTracks(clickhouse: ClickHouseClient, slot: Slot): Promise<number> {
  const { after, isFirst } = await startOf(clickhouse, slot, 'peg-tracks')
  const span = { after: toSeconds(after), at: toSeconds(slot.at) }
  const newest = isFirst ? null : await trackStatesAt(clickhouse, { at: after })
  const before = newest?.slot_at === span.after ? newest.states : {}
  const samples = await agreedPrices(clickhouse, { from: span.after, to: span.at })
  const { states, breaks, lost } = continueTracks(before, samples)
  await insertTracks(clickhouse, { breaks, states }, { after, at: slot.at, revision: slot.revision })

  const moved = [...breaks, ...lost].filter(
    ({ confirmed_at, ended_at }) => Math.max(confirmed_at, ended_at ?? 0) > span.after,
  )
  const known = await knownOnTracks(clickhouse, moved, slot.at)
  const events = await Promise.all(
    known.map(async (found) => {
      if (found.kind === 'deviation') return agreedBreakEvents(found, span)
      const { stable, started_at, started_block } = found
      const at = new Date(started_at * 1000)
      const status = await quoteStatus(clickhouse, { stable, block_time: at, block_number: started_block })
      return quoteLossEvents({ ...found, status }, span)
    }),
  )
  const inOrder = events.flat().sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime())
  await announceFound(clickhouse, inOrder, { types: TYPES, after, to: slot.at }, slot)
  return breaks.length + lost.length
}
