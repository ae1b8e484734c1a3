import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyBaseLogger } from 'fastify'
import { newestBlock } from '../../../clickhouse/chain/blocks.js'
import { eventsAfter, type LoggedEvent, newestSequence } from '../../../clickhouse/events/log.js'
import type { StoredSample } from '../../../clickhouse/peg/price.js'
import { samplesOfBlock } from '../../../clickhouse/peg/samples.js'

/** Most events per poll; the rest come with the next one. */
const PAGE = 500

/** The result of a poll: all new events up to `until`, and the samples that have changed. */
export type News = { events: readonly LoggedEvent[]; until: number; samples: ReadonlyMap<string, StoredSample> }

type Listener = (news: News) => void

/** What all streams of a process follow. */
export type Feed = {
  /** Listeners have received all events up to this one. */
  position: () => number
  /** Every stable's newest sample. */
  samples: () => ReadonlyMap<string, StoredSample>
  listen: (listener: Listener) => () => void
}

export type FeedHub = {
  /** Joins the feed, which runs while anybody has joined it. Rejects if ClickHouse cannot be read. */
  join: () => Promise<{ feed: Feed; leave: () => void }>
}

type Options = {
  clickhouse: ClickHouseClient
  /** Time between two polls; samples are sent no more often. */
  intervalMs: number
  log: FastifyBaseLogger
}

/** Polls the database once for all streams, and not at all while there are none. */
export function createFeedHub(options: Options): FeedHub {
  let current: ReturnType<typeof startFeed> | null = null
  let members = 0
  return {
    join: async () => {
      current ??= startFeed(options)
      const joined = current
      members++
      let isIn = true
      const leave = (): void => {
        if (!isIn) return
        isIn = false
        if (--members > 0) return
        joined.stop()
        current = null
      }
      await joined.ready.catch((error) => {
        leave()
        throw error
      })
      return { feed: joined.feed, leave }
    },
  }
}

const isSame = (a: StoredSample | undefined, b: StoredSample): boolean =>
  a !== undefined && a.status === b.status && a.sell_micros === b.sell_micros && a.buy_micros === b.buy_micros

function startFeed({ clickhouse, intervalMs, log }: Options) {
  const stopped = new AbortController()
  const { signal } = stopped
  const listeners = new Set<Listener>()
  const samples = new Map<string, StoredSample>()
  let position: number | null = null
  let block = -1
  let isAway = false

  async function newEvents(): Promise<Pick<News, 'events' | 'until'>> {
    const until = await newestSequence(clickhouse, { signal })
    // Nobody has listened so far.
    if (position === null || until <= position) return { events: [], until: Math.max(until, position ?? 0) }
    const events = await eventsAfter(clickhouse, { after: position, until, limit: PAGE }, { signal })
    return { events, until: events.length < PAGE ? until : (events.at(-1)?.sequence ?? until) }
  }

  async function newSamples(): Promise<News['samples']> {
    const newest = await newestBlock(clickhouse, { signal })
    if (!newest || newest.block_number === block) return new Map()
    const rows = await samplesOfBlock(clickhouse, newest, { signal })
    block = newest.block_number
    const changed = new Map<string, StoredSample>()
    for (const { stable, sample } of rows) {
      if (!isSame(samples.get(stable), sample)) changed.set(stable, sample)
      samples.set(stable, sample)
    }
    return changed
  }

  async function look(): Promise<void> {
    const { events, until } = await newEvents()
    const changed = await newSamples()
    position = until
    for (const listener of listeners) listener({ events, until, samples: changed })
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await sleep(intervalMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        await look()
        if (isAway) log.info('streams resume')
        isAway = false
      } catch (error) {
        // Streams stay open: nothing is lost, because the position in the log does not move.
        if (!isAway && !signal.aborted) log.warn({ reason: String(error) }, 'streams are interrupted')
        isAway = true
      }
    }
  }

  const feed: Feed = {
    position: () => position ?? 0,
    samples: () => samples,
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const ready = look()
  ready.then(run, () => {})
  return { feed, ready, stop: () => stopped.abort() }
}
