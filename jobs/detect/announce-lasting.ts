import type { ClickHouseClient } from '@clickhouse/client'
import type { EventType, FoundEvent } from '../../clickhouse/events/types.js'
import { knownStarts } from '../../clickhouse/peg/known-starts.js'
import { announceFound } from './announce.js'
import type { SlotSpan } from './slot-start.js'

/** What lasts from one sample of a stable to another: a break, or time without a quote. Times in unix seconds. */
type Lasting = {
  stable: string
  started_at: number
  started_block: number
  confirmed_at: number | null
  ended_at: number | null
}

/**
 * Announces what was confirmed or ended in each of consecutive slots, the earliest first, if it is known when it started:
 * `startsInside` decides, given the first of the blocks that are read without a hole up to it. Retracts announced events of these
 * types that are not found again.
 */
export async function announceLasting<Found extends Lasting>(
  clickhouse: ClickHouseClient,
  slots: readonly (SlotSpan & { found: readonly Found[] })[],
  {
    types,
    revision,
    startsInside,
    eventsOf,
  }: {
    types: readonly EventType[]
    revision: number
    startsInside: (found: Found, fromBlock: number) => Promise<boolean>
    eventsOf: (found: Found, span: SlotSpan['span']) => FoundEvent[] | Promise<FoundEvent[]>
  },
): Promise<void> {
  const startedOrEnded = slots.flatMap(({ found, at, span }) =>
    found
      .filter(
        ({ confirmed_at, ended_at }) => confirmed_at !== null && Math.max(confirmed_at, ended_at ?? 0) > span.after,
      )
      .map((lasting) => ({ found: lasting, at })),
  )
  const begun = await knownStarts(clickhouse, startedOrEnded, startsInside)
  const announcements = slots.map(async ({ after, at, span }) => {
    const ofSlot = begun.filter((lasting) => lasting.at === at)
    const events = (await Promise.all(ofSlot.map(({ found }) => eventsOf(found, span)))).flat()
    return { after, at, found: events.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime()) }
  })
  await announceFound(clickhouse, await Promise.all(announcements), types, { revision })
}
