import { computed, signal } from '@preact/signals'
import type { GetStatusData } from '../../clients/typescript/src/types.js'
import { ask } from '../api/client.js'
import { now, setClockOffset, ticking } from '../state/clock.js'
import { joinTabs, type Tabs } from './tabs.js'

/** A stable's newest sample, as the stream sends it. Prices are null without a quote. */
type Sample = {
  stable: string
  status: string
  price_vs_refusd: number | null
  mid_price: number | null
  block_number: number
  /** Unix seconds. */
  at: number
}

/** An event of the stream; `data` depends on its type. */
type LiveEvent = { event: string; id: string; sequence: number; occurred_at: string; data: unknown }

type Head = { block_number: number; at: number }

type Message = Partial<{
  isOpen: boolean
  /** How far this machine's clock is behind that of the service, which only the leader asks. */
  clockOffsetMs: number
  /** When the service was last heard, in unix seconds. */
  heardAt: number
  head: Head
  /** The newest block of the chain, as the service knows it. */
  chainBlock: number | null
  samples: Sample[]
  events: LiveEvent[]
}>

const EVENT_TYPES = [
  'peg_break.started',
  'peg_break.ended',
  'agreed_break.started',
  'agreed_break.ended',
  'peg_quote.lost',
  'peg_quote.back',
  'flow_anomaly.detected',
  'unusual_flow.detected',
  'system.health_drift',
  'event.retracted',
]
/** How often the newest block is asked for: samples come only when a price changes. */
const HEAD_SECONDS = 15
/** Blocks come once a minute at the slowest, and a sample counts for two. */
const STALE_SECONDS = 150
/** While the past is read, the newest block is another one each time that it is asked for. */
const PROGRESS_SECONDS = 4 * HEAD_SECONDS
/** Events of this tab that are kept for views that open later. */
const MOST_EVENTS = 200
/** A stream that the browser has given up is opened again after this. */
const REOPEN_MS = 5000

const isOpen = signal(false)
let clockOffsetMs = 0
const heardAt = signal<number | null>(null)
const advancedAt = signal<number | null>(null)

/** The newest block of the chain, which may not be measured yet; null if it is not known. */
export const chainBlock = signal<number | null>(null)

/** The newest block that is measured; null before the first answer. */
export const head = signal<Head | null>(null)
/** The newest samples by address. The map is another one after each change. */
export const samples = signal<ReadonlyMap<string, Sample>>(new Map())
/** Events that came since the page was opened, oldest first. */
export const liveEvents = signal<readonly LiveEvent[]>([])

/** How the page is connected. `stale`: what it shows may no longer be so; `reading`: it is old, but gets newer. */
type Link = { state: 'connecting' | 'live' | 'stale' | 'reading'; reason: string | null; ageSeconds: number | null }

export const link = computed<Link>(() => {
  const ageSeconds = head.value && Math.max(0, Math.round(ticking.value - head.value.at))
  if (ageSeconds === null) return { state: isOpen.value ? 'live' : 'connecting', reason: null, ageSeconds }
  const silence = ticking.value - (heardAt.value ?? 0)
  if (silence > 4 * HEAD_SECONDS) return { state: 'stale', reason: 'The service cannot be reached.', ageSeconds }
  if (ageSeconds > STALE_SECONDS) {
    const isBehind = head.value !== null && head.value.block_number < (chainBlock.value ?? 0)
    const isReading = isBehind && ticking.value - (advancedAt.value ?? 0) < PROGRESS_SECONDS
    return isReading
      ? { state: 'reading', reason: 'The blocks of the past are being read.', ageSeconds }
      : { state: 'stale', reason: 'The newest block is old.', ageSeconds }
  }
  if (!isOpen.value) return { state: 'connecting', reason: 'The live stream is reconnecting.', ageSeconds }
  return { state: 'live', reason: null, ageSeconds }
})

function take(message: Message): void {
  if (message.clockOffsetMs !== undefined) {
    clockOffsetMs = message.clockOffsetMs
    setClockOffset(clockOffsetMs)
  }
  if (message.isOpen !== undefined) isOpen.value = message.isOpen
  if (message.heardAt !== undefined) heardAt.value = message.heardAt
  if (message.chainBlock !== undefined) chainBlock.value = message.chainBlock
  const before = head.value?.block_number
  if (message.head && message.head.block_number >= (before ?? 0)) {
    if (before !== undefined && message.head.block_number > before) advancedAt.value = now()
    head.value = message.head
  }
  if (message.samples) {
    const next = new Map(samples.value)
    for (const sample of message.samples) next.set(sample.stable, sample)
    samples.value = next
  }
  if (message.events) liveEvents.value = [...liveEvents.value, ...message.events].slice(-MOST_EVENTS)
}

type StreamedSample = Omit<Sample, 'at'> & { sampled_at: string }

/** `sampled_at` is of the shape 2026-07-01 12:00:00+00. */
const sampleOf = ({ sampled_at, ...sample }: StreamedSample): Sample => ({
  ...sample,
  at: Date.parse(`${sampled_at.slice(0, 19).replace(' ', 'T')}Z`) / 1000,
})

/** Does the work of the leader: holds the stream open, asks for the newest block, and tells the other tabs. */
function lead(tell: (message: Message) => void): void {
  const both = (message: Message): void => {
    take(message)
    tell(message)
  }
  // The first samples of a stream are those of all stables: they are told together.
  let waiting: Sample[] = []
  const flush = (): void => {
    const newest = waiting.reduce((a, b) => (b.block_number > a.block_number ? b : a))
    both({ samples: waiting, heardAt: now(), head: { block_number: newest.block_number, at: newest.at } })
    waiting = []
  }

  function open(): void {
    const source = new EventSource('/api/v1/stream')
    source.onopen = () => both({ isOpen: true, heardAt: now() })
    source.onerror = () => {
      both({ isOpen: false })
      if (source.readyState !== EventSource.CLOSED) return
      source.close()
      setTimeout(open, REOPEN_MS)
    }
    source.addEventListener('peg_sample', ({ data }: MessageEvent<string>) => {
      if (waiting.length === 0) setTimeout(flush, 100)
      waiting.push(sampleOf(JSON.parse(data)))
    })
    for (const type of EVENT_TYPES)
      source.addEventListener(type, ({ data }: MessageEvent<string>) => both({ events: [JSON.parse(data)] }))
  }

  async function askHead(): Promise<void> {
    const status = await ask<GetStatusData>('/api/v1/status').catch(() => null)
    if (status) {
      const { at, newest_block, head: chain } = status
      const newest = newest_block && {
        block_number: newest_block.block_number,
        at: Date.parse(newest_block.block_time) / 1000,
      }
      const atMs = Date.parse(at)
      both({
        clockOffsetMs: atMs - Date.now(),
        heardAt: atMs / 1000,
        chainBlock: chain?.block_number ?? null,
        ...(newest && { head: newest }),
      })
    }
    setTimeout(askHead, HEAD_SECONDS * 1000)
  }

  open()
  void askHead()
}

/** Connects the page, by one stream for all of its tabs. */
export function connectLive(): void {
  const tabs: Tabs<Message> = joinTabs<Message>('plumbline-live', {
    heard: take,
    known: () => ({
      isOpen: isOpen.value,
      clockOffsetMs,
      ...(heardAt.value !== null && { heardAt: heardAt.value }),
      ...(head.value && { head: head.value }),
      chainBlock: chainBlock.value,
      samples: [...samples.value.values()],
    }),
    // In a turn of its own: `tabs` is not assigned yet where there are no locks.
    lead: () => queueMicrotask(() => lead((message) => tabs.tell(message))),
  })
}
