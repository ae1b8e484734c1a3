import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { type EventFilter, type LoggedEvent, passes } from '../../../clickhouse/events/log.js'
import { publishedEvent } from '../../../clickhouse/events/types.js'
import type { StoredSample } from '../../../clickhouse/peg/price.js'
import type { Feed, News } from './feed.js'
import { eventMessage, HEARTBEAT, readyMessage, SAMPLE_TYPE, sampleMessage } from './messages.js'

/** Events per read for a client that has to catch up. */
const PAGE = 500
/** Clients reconnect after this long, and not all at once. */
const RETRY_MS = { least: 1000, spread: 4000 }

/** Events with `after` < sequence <= `until` that pass the filter, in the order of the log. */
type ReadEvents = (
  range: EventFilter & { after: number; until: number; limit: number },
  options: { signal: AbortSignal },
) => Promise<readonly LoggedEvent[]>

type Options = {
  feed: Feed
  readEvents: ReadEvents
  filter: EventFilter
  /** The last event that the client has. */
  after: number
  /** Whether the client asked for another position, which the log does not have. */
  isPositionUnknown: boolean
  heartbeatMs: number
  /** A client that does not read waiting data in this time is disconnected. */
  stallMs: number
  log: FastifyBaseLogger
}

/** A stream to write messages to, with heartbeats. Destroyed if waiting data is not read in time. */
function createOutlet({ heartbeatMs, stallMs, log }: Pick<Options, 'heartbeatMs' | 'stallMs' | 'log'>) {
  const out = new PassThrough()
  /** Since when too much data is waiting; null while the client keeps up. */
  let fullSince: number | null = null

  function write(text: string): void {
    if (out.destroyed || out.writableEnded) return
    if (!out.write(text)) fullSince ??= performance.now()
  }

  function beat(): void {
    if (fullSince === null) write(HEARTBEAT)
    else if (performance.now() - fullSince > stallMs) {
      log.info('closing a stream: its client does not read')
      out.destroy()
    }
  }

  out.on('drain', () => {
    fullSince = null
  })
  const heartbeat = setInterval(beat, heartbeatMs)
  out.once('close', () => clearInterval(heartbeat))
  return { out, write, isFull: () => fullSince !== null }
}

/**
 * The stream of one client. For a client that is slower than the feed, only the newest samples are kept; it gets the
 * events from ClickHouse once it has read those before. Destroyed if the client does not read at all.
 */
export function follow({
  feed,
  readEvents,
  filter,
  after,
  isPositionUnknown,
  heartbeatMs,
  stallMs,
  log,
}: Options): PassThrough {
  const { out, write, isFull } = createOutlet({ heartbeatMs, stallMs, log })
  const closed = new AbortController()
  const wantsSamples = filter.types?.includes(SAMPLE_TYPE) ?? true
  /** All events up to this one are written. */
  let written = after
  /** Whether `written` has reached the feed, so that its news follow. */
  let isLive = false
  /** The newest samples that are not yet written. */
  const pending = new Map<string, StoredSample>()

  function writeEvents(events: readonly LoggedEvent[], until: number): void {
    for (const event of events)
      if (event.sequence > written && passes(event, filter)) write(eventMessage(publishedEvent(event)))
    written = Math.max(written, until)
  }

  /** Only a stable's newest sample is kept for a slow client. */
  function writeSamples(samples: ReadonlyMap<string, StoredSample>): void {
    if (!wantsSamples) return
    for (const [stable, sample] of samples)
      if (passes({ type: SAMPLE_TYPE, stables: [stable], occurred_at: sample.block_time, data: {} }, filter))
        pending.set(stable, sample)
    for (const [stable, sample] of pending) {
      if (isFull()) return
      write(sampleMessage(stable, sample))
      pending.delete(stable)
    }
  }

  function onNews({ events, until, samples }: News): void {
    if (isLive && !isFull()) writeEvents(events, until)
    else if (isLive) catchUp()
    writeSamples(samples)
  }

  /** Writes missed events until the stream has reached the feed; from then on it only needs the feed's news. */
  async function readMissed(): Promise<void> {
    const { signal } = closed
    if (isFull()) await once(out, 'drain', { signal })
    while (written < feed.position()) {
      const until = feed.position()
      const events = await readEvents({ ...filter, after: written, until, limit: PAGE }, { signal })
      writeEvents(events, events.length < PAGE ? until : (events.at(-1)?.sequence ?? until))
      if (isFull()) await once(out, 'drain', { signal })
    }
    isLive = true
  }

  function catchUp(): void {
    isLive = false
    readMissed().catch((error) => {
      if (closed.signal.aborted) return
      log.info({ reason: String(error) }, 'closing a stream: the events that its client missed cannot be read')
      out.destroy()
    })
  }

  out.on('drain', () => writeSamples(new Map()))
  write(
    readyMessage(
      { sequence: after, ...(isPositionUnknown && { unknown_position: true }) },
      Math.round(RETRY_MS.least + Math.random() * RETRY_MS.spread),
    ),
  )
  writeSamples(feed.samples())
  const unlisten = feed.listen(onNews)
  out.once('close', () => {
    unlisten()
    closed.abort()
  })
  catchUp()
  return out
}
