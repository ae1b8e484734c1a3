import { setTimeout as sleep } from 'node:timers/promises'
import { failingSubscriptions } from '../../../clickhouse/webhooks/attempts.js'
import { newDeliveries } from '../../../clickhouse/webhooks/deliveries.js'
import { newestFanOut, webhookNews } from '../../../clickhouse/webhooks/fan-outs.js'
import { announceWebhookStates } from './announce-states.js'
import { type AttemptOptions, Attempts } from './attempts.js'
import { FairQueue, type LineMode, type Pending } from './fair-queue.js'
import { FanOut } from './fan-out.js'
import { Holds } from './holds.js'
import { Paces } from './paces.js'
import { Progress } from './progress.js'
import { readPending } from './read-pending.js'
import { Receivers } from './receivers.js'
import { type Repeat, repeatUntil } from './repeat.js'
import { Subscribers } from './subscribers.js'
import { Turns } from './turns.js'

export type DispatcherOptions = AttemptOptions & {
  secretsKey: Buffer
  /** The maximum number of concurrent attempts, in total and per subscription. */
  maxInFlight: number
  maxInFlightOfOne: number
  /** Events that were recorded longer than this after they occurred are not sent. */
  maxEventAgeMs: number
  /** A subscription whose attempts have all failed for this long is disabled. */
  disableAfterMs: number
}

/** How often the database is polled for new events and deliveries, in milliseconds. */
const POLL_MS = 200
/** How often it is polled while no subscription is enabled, when there is nobody to send to: how soon a new one is noticed. */
const IDLE_POLL_MS = 2000
/** How often the queue is checked for deliveries that have become due. */
const TICK_MS = 50
const MAX_READ = 1000
/** About how many contents are kept in memory before they are sent, and how many of one subscription at least. */
const MAX_PREPARED = 8000
const MIN_PREPARED = 4
/** About how many deliveries of events may wait to be sent: a few seconds' work. */
const MAX_UNSENT = 20_000

/**
 * Creates deliveries for events and attempts deliveries until `signal` aborts, then waits until attempts in flight have
 * ended and are recorded. All its state is in the database, from which the next dispatcher resumes.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #repeat: Repeat
  readonly #subscribers: Subscribers
  readonly #receivers: Receivers
  readonly #paces: Paces
  readonly #queue: FairQueue
  readonly #attempts: Attempts
  readonly #fanOut: FanOut
  readonly #holds = new Holds()
  readonly #turns = new Turns()
  readonly #progress: Progress
  /** The newest event and the newest delivery that were read, and how many versions subscriptions had then. */
  #read = { event: 0, delivery: 0, versions: -1 }

  constructor(options: DispatcherOptions) {
    const { clickhouse, log, signal, maxInFlight, maxInFlightOfOne, maxEventAgeMs, disableAfterMs } = options
    this.#options = options
    this.#repeat = repeatUntil(signal, log)
    this.#subscribers = new Subscribers(options)
    this.#receivers = new Receivers({
      subscribers: this.#subscribers,
      disableAfterMs,
      onChange: () => this.#refreshModes(),
      readSubscribers: () => this.#readSubscribers(),
      log,
    })
    this.#paces = new Paces({ maxInFlightOfOne })
    this.#queue = new FairQueue({
      maxInFlight,
      limitOf: (id) => this.#paces.limitOf(id),
      prepared: (subscriptions) => Math.max(MIN_PREPARED, Math.floor(MAX_PREPARED / subscriptions)),
      modeOf: (id) => this.#modeOf(id),
    })
    this.#attempts = new Attempts({
      ...options,
      queue: this.#queue,
      subscribers: this.#subscribers,
      receivers: this.#receivers,
      paces: this.#paces,
      turns: this.#turns,
      repeat: this.#repeat,
    })
    this.#fanOut = new FanOut({ clickhouse, maxAgeMs: maxEventAgeMs, maxUnsent: MAX_UNSENT })
    this.#progress = new Progress(clickhouse)
  }

  /** How many deliveries are not due yet or wait for others, are due, being sent, and sent but not recorded yet. */
  get size(): { later: number; due: number; inFlight: number; unrecorded: number } {
    const { later, ...size } = this.#queue.size
    return { ...size, later: later + this.#turns.waiting, unrecorded: this.#attempts.unrecorded }
  }

  async run(): Promise<void> {
    const { signal } = this.#options
    await this.#repeat('pending deliveries', () => this.#start())
    const ticker = setInterval(() => this.#attempts.beginSoon(), TICK_MS)
    while (!signal.aborted) {
      const polledAt = performance.now()
      let isMore = false
      await this.#repeat('new events and deliveries', async () => {
        isMore = await this.#poll()
      })
      const pauseMs = this.#subscribers.areAnyEnabled ? POLL_MS : IDLE_POLL_MS
      if (!isMore) await sleep(polledAt + pauseMs - performance.now(), undefined, { signal }).catch(() => {})
    }
    clearInterval(ticker)
    await this.#attempts.idle()
  }

  async #start(): Promise<void> {
    const { clickhouse, log } = this.#options
    const startedAt = performance.now()
    const { sequence, settled_before } = await newestFanOut(clickhouse)
    this.#read.event = sequence
    this.#progress.resume(sequence)
    await this.#fanOut.resume(sequence)
    const unfinished: Pending[] = []
    const [newest, failing] = await Promise.all([
      readPending(clickhouse, settled_before, (pending, isRefused) => {
        if (isRefused) this.#paces.resume(pending.subscription_id, pending.dueMs)
        // A refused one keeps its place in the line, and the whole line waits.
        unfinished.push(isRefused ? { ...pending, dueMs: Math.min(pending.dueMs, Date.now()) } : pending)
      }),
      failingSubscriptions(clickhouse),
    ])
    this.#read.delivery = newest
    await this.#holds.resume(clickhouse, settled_before, newest)
    this.#receivers.resume(failing.map(({ subscription_id, ...since }) => [subscription_id, since]))
    await this.#subscribers.read()
    const now = Date.now()
    for (const pending of unfinished) this.#add(pending, now)
    log.info({ ...this.size, ms: Math.round(performance.now() - startedAt) }, 'webhooks: resumed')
  }

  /** Reads new subscriptions, events and deliveries; resolves to whether more may be available immediately. */
  async #poll(): Promise<boolean> {
    const { clickhouse } = this.#options
    const { event, delivery } = this.#read
    let news = await webhookNews(clickhouse, { event, delivery })
    const newestEvent = Math.max(event, news.event)
    // Looked at again after the newest event is known, so that every subscription created before an event is seen.
    if (news.event > 0) news = await webhookNews(clickhouse, { event, delivery })
    if (news.versions !== this.#read.versions) {
      await this.#readSubscribers()
      this.#read.versions = news.versions
    }
    this.#read.event = newestEvent
    // Before newer events are planned, so that what waited is sent first.
    const digests = await this.#holds.flush(clickhouse, (id) => this.#subscribers.get(id), new Date())
    const { planned, isMore } = await this.#fanOut.plan({
      subscriptions: this.#subscribers.all,
      until: newestEvent,
      unsentOf: (id) => this.#queue.unsentOf(id),
    })
    if (planned > 0 || digests > 0 || news.delivery > 0) await this.#readNew()
    const plannedUpTo = this.#fanOut.plannedUpTo({ subscriptions: this.#subscribers.all, until: newestEvent })
    await this.#progress.record(plannedUpTo, () => this.#smallestUnsettled())
    return isMore || digests > 0
  }

  async #readSubscribers(): Promise<void> {
    for (const { id } of await this.#subscribers.read()) {
      this.#receivers.forget(id)
      this.#paces.forget(id)
    }
    this.#refreshModes()
    await announceWebhookStates(this.#options.clickhouse, this.#subscribers.all, new Date())
  }

  #modeOf(id: string): LineMode {
    const mode = this.#subscribers.modeOf(id)
    return mode === 'send' && (this.#receivers.isBeingDisabled(id) || this.#paces.isPaused(id)) ? 'wait' : mode
  }

  #refreshModes(): void {
    this.#queue.refreshModes()
    this.#attempts.beginSoon()
  }

  /** Reads all deliveries that are new, so that what is planned next takes them into account. */
  async #readNew(): Promise<void> {
    const { clickhouse, signal } = this.#options
    for (let isMore = true; isMore && !signal.aborted; ) {
      const deliveries = await newDeliveries(clickhouse, { after: this.#read.delivery, limit: MAX_READ })
      // A subscription exists before its deliveries, so one that is still unknown after this has been deleted.
      if (deliveries.some(({ subscription_id }) => !this.#subscribers.get(subscription_id)))
        await this.#readSubscribers()
      const now = Date.now()
      for (const { due_ms, event_sequence, event_at, ...delivery } of deliveries) {
        const { delivery_id, subscription_id, kind, incidents, ...content } = delivery
        this.#holds.see({ delivery_id, subscription_id, kind, event_sequence, event_at })
        this.#read.delivery = delivery_id
        if (kind === 'held') continue
        const dueMs = Math.min(due_ms, now)
        this.#add({ delivery_id, subscription_id, attempt: 1, dueMs, incidents, content }, now)
      }
      this.#attempts.begin()
      isMore = deliveries.length === MAX_READ
    }
  }

  /** Queues a delivery when it has its turn. */
  #add(pending: Pending, nowMs: number): void {
    if (this.#turns.begin(pending)) this.#queue.add(pending, nowMs)
  }

  /** The number below which no delivery is waiting, held, being sent, or not recorded. */
  #smallestUnsettled(): number {
    return Math.min(
      this.#read.delivery + 1,
      this.#queue.smallestId(),
      this.#holds.smallestId(),
      this.#attempts.smallestId(),
    )
  }
}
