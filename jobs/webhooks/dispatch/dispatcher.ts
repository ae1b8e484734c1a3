import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import {
  failingSubscriptions,
  insertWebhookAttempts,
  type WebhookAttempt,
} from '../../../clickhouse/webhooks/attempts.js'
import { newDeliveries } from '../../../clickhouse/webhooks/deliveries.js'
import { insertWebhookFanOut, newestFanOut, webhookNews } from '../../../clickhouse/webhooks/fan-outs.js'
import { RETRY_DELAYS_SECONDS } from '../../../clickhouse/webhooks/schedule.js'
import { withoutUrl } from '../../../clickhouse/webhooks/secret-urls.js'
import type { DisabledReason, Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { usesNames } from '../formats/render.js'
import type { Surroundings } from '../formats/writer.js'
import { stablesIn } from '../messages/stables.js'
import type { Sender } from '../send/sender.js'
import { announceWebhookStates } from './announce-states.js'
import { canceledAttempt, GONE, requestOf, sentAttempt } from './attempt.js'
import { ContentLoader } from './content-loader.js'
import { FailingSubscriptions } from './failing.js'
import { FairQueue, type Pending } from './fair-queue.js'
import { FanOut } from './fan-out.js'
import { Holds } from './holds.js'
import { readPending } from './read-pending.js'
import { Recorder } from './recorder.js'
import { Subscribers } from './subscribers.js'
import { Symbols } from './symbols.js'

export type DispatcherOptions = {
  clickhouse: ClickHouseClient
  sender: Sender
  secretsKey: Buffer
  /** Random id of the process. */
  instance: string
  /** Whether it is certain that no other process sends. Called before attempts are begun. */
  mayBegin: () => boolean
  /** The maximum number of concurrent attempts, in total and per subscription. */
  maxInFlight: number
  maxInFlightOfOne: number
  /** Events that were recorded longer than this after they occurred are not sent. */
  maxEventAgeMs: number
  /** A subscription whose attempts have all failed for this long is disabled. */
  disableAfterMs: number
  /** The URL at which people reach the service, which ends with a slash, for links in messages; null if unknown. */
  siteUrl: string | null
  /** Replaces the schedule in tests. */
  delaysSeconds?: readonly number[]
  log: Logger
  signal: AbortSignal
}

/** How often the database is polled for new events and deliveries, in milliseconds. */
const POLL_MS = 200
/** The same while no subscription is enabled, when there is nobody to send to: how soon a new one is noticed. */
const IDLE_POLL_MS = 2000
/** How often the queue is checked for deliveries that have become due. */
const TICK_MS = 50
const MAX_READ = 1000
/** About how many contents are kept in memory before they are sent, and how many of one subscription at least. */
const MAX_PREPARED = 8000
const MIN_PREPARED = 4
/** About how many deliveries of events may wait to be sent: a few seconds' work. */
const MAX_UNSENT = 20_000
/** No attempt is begun while more than this many are not recorded yet, since those would be repeated after a crash. */
const MAX_UNRECORDED = 5000
/**
 * How often progress is recorded: up to which event deliveries were created, and below which number none is pending.
 */
const PROGRESS_MS = 1000
const SETTLE_MS = 60_000

/**
 * Creates deliveries for events and attempts deliveries until `signal` aborts, then waits until attempts in flight have
 * ended and are recorded. All its state is in the database, from which the next dispatcher resumes.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #queue: FairQueue
  readonly #loader: ContentLoader
  readonly #recorder: Recorder
  readonly #subscribers: Subscribers
  readonly #fanOut: FanOut
  readonly #holds = new Holds()
  readonly #symbols: Symbols
  #failing: FailingSubscriptions
  /** Numbers of deliveries that were taken from the queue and whose attempt is not recorded yet. */
  readonly #unsettled = new Set<number>()
  readonly #disabling = new Set<string>()
  /** The newest event and the newest delivery that were read. */
  #newestEvent = 0
  #newest = 0
  #settledAt = 0
  #progressRecordedAt = 0
  #recordedSequence = 0
  #versions = -1
  #isPumping = false
  #inFlight = 0

  constructor(options: DispatcherOptions) {
    const { clickhouse, log, maxInFlight, maxInFlightOfOne, maxEventAgeMs, disableAfterMs } = options
    this.#options = options
    this.#subscribers = new Subscribers(options)
    this.#symbols = new Symbols(clickhouse, log)
    this.#fanOut = new FanOut({ clickhouse, maxAgeMs: maxEventAgeMs, maxUnsent: MAX_UNSENT })
    this.#failing = new FailingSubscriptions(disableAfterMs)
    this.#recorder = new Recorder({ insert: (rows, token) => insertWebhookAttempts(clickhouse, rows, token), log })
    this.#queue = new FairQueue({
      maxInFlight,
      maxInFlightOfOne,
      prepared: (subscriptions) => Math.max(MIN_PREPARED, Math.floor(MAX_PREPARED / subscriptions)),
      modeOf: (id) => (this.#disabling.has(id) ? 'wait' : this.#subscribers.modeOf(id)),
    })
    this.#loader = new ContentLoader({
      clickhouse,
      queue: this.#queue,
      repeat: (what, work) => this.#repeat(what, work),
      onLoaded: () => this.#pumpSoon(),
    })
  }

  /** How many deliveries are not due yet, due, being sent, and sent but not recorded yet. */
  get size(): { later: number; due: number; inFlight: number; unrecorded: number } {
    return { ...this.#queue.size, unrecorded: this.#recorder.unrecorded }
  }

  async run(): Promise<void> {
    const { signal } = this.#options
    await this.#repeat('pending deliveries', () => this.#start())
    const ticker = setInterval(() => this.#pumpSoon(), TICK_MS)
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
    while (this.#inFlight > 0) await sleep(TICK_MS)
    await this.#recorder.idle()
  }

  /** Repeats `work` until it succeeds once or `signal` aborts. Logs only the first failure. */
  async #repeat(what: string, work: () => Promise<void>): Promise<void> {
    const { log, signal } = this.#options
    for (let isLogged = false; !signal.aborted; isLogged = true) {
      try {
        await work()
        if (isLogged) log.info(`${what}: reading works again`)
        return
      } catch (error) {
        if (!isLogged) log.error({ reason: String(error) }, `${what}: cannot be read; retrying`)
        await sleep(POLL_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #start(): Promise<void> {
    const { clickhouse, disableAfterMs, log } = this.#options
    const startedAt = performance.now()
    const { sequence, settled_before } = await newestFanOut(clickhouse)
    this.#newestEvent = sequence
    this.#recordedSequence = sequence
    await this.#fanOut.resume(sequence)
    const pending: Pending[] = []
    const [newest, failing] = await Promise.all([
      readPending(clickhouse, settled_before, (one) => pending.push(one)),
      failingSubscriptions(clickhouse),
    ])
    this.#newest = newest
    await this.#holds.resume(clickhouse, settled_before, newest)
    this.#failing = new FailingSubscriptions(
      disableAfterMs,
      failing.map(({ subscription_id, ...since }) => [subscription_id, since]),
    )
    await this.#subscribers.read()
    const now = Date.now()
    for (const one of pending) this.#queue.add(one, now)
    log.info({ ...this.#queue.size, ms: Math.round(performance.now() - startedAt) }, 'webhooks: resumed')
  }

  /** Reads new subscriptions, events and deliveries; resolves to whether more may be available immediately. */
  async #poll(): Promise<boolean> {
    const { clickhouse } = this.#options
    const after = { event: this.#newestEvent, delivery: this.#newest }
    let news = await webhookNews(clickhouse, after)
    const newestEvent = Math.max(this.#newestEvent, news.event)
    // Looked at again after the newest event is known, so that every subscription created before an event is seen.
    if (news.event > 0) news = await webhookNews(clickhouse, after)
    if (news.versions !== this.#versions) {
      await this.#readSubscribers()
      this.#versions = news.versions
    }
    this.#newestEvent = newestEvent
    // Before newer events are planned, so that what waited is sent first.
    const digests = await this.#holds.flush(clickhouse, (id) => this.#subscribers.get(id), new Date())
    const { planned, isMore } = await this.#fanOut.plan({
      subscriptions: this.#subscribers.all,
      until: newestEvent,
      unsentOf: (id) => this.#queue.unsentOf(id),
    })
    if (planned > 0 || digests > 0 || news.delivery > 0) await this.#readNew()
    await this.#recordProgress()
    return isMore || digests > 0
  }

  async #readSubscribers(): Promise<void> {
    for (const { id } of await this.#subscribers.read()) this.#failing.forget(id)
    this.#queue.refreshModes()
    this.#pumpSoon()
    await announceWebhookStates(this.#options.clickhouse, this.#subscribers.all, new Date())
  }

  /** Reads all deliveries that are new, so that what is planned next takes them into account. */
  async #readNew(): Promise<void> {
    const { clickhouse, signal } = this.#options
    for (let isMore = true; isMore && !signal.aborted; ) {
      const deliveries = await newDeliveries(clickhouse, { after: this.#newest, limit: MAX_READ })
      // A subscription exists before its deliveries, so one that is still unknown after this has been deleted.
      if (deliveries.some(({ subscription_id }) => !this.#subscribers.get(subscription_id)))
        await this.#readSubscribers()
      const now = Date.now()
      for (const { due_ms, event_sequence, event_at, ...delivery } of deliveries) {
        const { delivery_id, subscription_id, kind, ...content } = delivery
        this.#holds.see({ delivery_id, subscription_id, kind, event_sequence, event_at })
        this.#newest = delivery_id
        if (kind === 'held') continue
        this.#queue.add({ delivery_id, subscription_id, attempt: 1, dueMs: Math.min(due_ms, now), content }, now)
      }
      this.#pump()
      isMore = deliveries.length === MAX_READ
    }
  }

  /** Records the progress from time to time. Work that is repeated after a crash adds nothing. */
  async #recordProgress(): Promise<void> {
    const now = Date.now()
    const isTimeToSettle = now - this.#settledAt > SETTLE_MS
    const planned = this.#fanOut.plannedUpTo({ subscriptions: this.#subscribers.all, until: this.#newestEvent })
    const sequence = Math.max(this.#recordedSequence, planned)
    const isTimeToRecord = sequence > this.#recordedSequence && now - this.#progressRecordedAt > PROGRESS_MS
    if (!isTimeToSettle && !isTimeToRecord) return
    const settled_before = isTimeToSettle ? this.#smallestUnsettled() : 0
    await insertWebhookFanOut(this.#options.clickhouse, { sequence, settled_before })
    this.#recordedSequence = sequence
    this.#progressRecordedAt = now
    if (isTimeToSettle) this.#settledAt = now
  }

  /** The number below which no delivery is waiting, held, being sent, or not recorded. */
  #smallestUnsettled(): number {
    let smallest = Math.min(this.#newest + 1, this.#queue.smallestId(), this.#holds.smallestId())
    for (const delivery_id of this.#unsettled) smallest = Math.min(smallest, delivery_id)
    return smallest
  }

  #pumpSoon(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    setImmediate(() => {
      this.#isPumping = false
      this.#pump()
    })
  }

  /** Begins as many attempts as the limits allow. */
  #pump(): void {
    const { signal, mayBegin, instance } = this.#options
    if (signal.aborted || this.#recorder.unrecorded >= MAX_UNRECORDED || !mayBegin()) return
    for (const { pending, mode } of this.#queue.take(Date.now())) {
      this.#unsettled.add(pending.delivery_id)
      const subscription = this.#subscribers.get(pending.subscription_id)
      if (mode === 'send' && subscription) void this.#send(pending, subscription)
      else {
        this.#queue.done(pending)
        this.#record(pending, canceledAttempt(pending, instance, new Date()))
        this.#pumpSoon()
      }
    }
    void this.#loader.load()
  }

  async #send(pending: Pending, subscription: Subscription): Promise<void> {
    const { sender, instance, delaysSeconds = RETRY_DELAYS_SECONDS } = this.#options
    this.#inFlight++
    const surroundings = await this.#surroundings(pending, subscription)
    const at = new Date()
    const secrets = this.#subscribers.secretsOf(subscription, at) ?? []
    const url = this.#subscribers.urlOf(subscription) ?? subscription.url
    const exchange = await sender.send(requestOf(pending, subscription, { ...surroundings, url, secrets, at }))
    const response = subscription.sealed_url === '' ? exchange.response : withoutUrl(exchange.response, url)
    const attempt = sentAttempt(pending, { ...exchange, response }, instance, delaysSeconds)
    this.#queue.done(pending)
    this.#record(pending, attempt)
    this.#inFlight--
    if (attempt.outcome === 'success') this.#failing.forget(subscription.id)
    else if (attempt.status === GONE) void this.#disable(subscription, 'gone')
    else if (this.#failing.failed(subscription.id, attempt.started_at)) void this.#disable(subscription, 'failing')
    this.#pumpSoon()
  }

  async #surroundings({ content }: Pending, { format }: Subscription): Promise<Surroundings> {
    const base = this.#options.siteUrl
    if (content === null || !usesNames(format)) return { base, names: new Map() }
    return { base, names: await this.#symbols.of(stablesIn(content)) }
  }

  /** Records an attempt; the next one is queued only after that. */
  #record(pending: Pending, attempt: WebhookAttempt): void {
    this.#recorder.add(attempt, () => {
      this.#unsettled.delete(pending.delivery_id)
      if (attempt.next_attempt_at === null) return
      const next = { ...pending, attempt: pending.attempt + 1, dueMs: attempt.next_attempt_at.getTime(), content: null }
      this.#queue.add(next, Date.now())
    })
  }

  async #disable(subscription: Subscription, reason: DisabledReason): Promise<void> {
    if (this.#disabling.has(subscription.id)) return
    this.#disabling.add(subscription.id)
    // No more attempts are begun while this is being recorded.
    this.#queue.refreshModes()
    try {
      await this.#subscribers.disable(subscription, reason)
      await this.#readSubscribers()
    } catch (error) {
      this.#options.log.error(
        { subscription: subscription.id, reason: String(error) },
        'a webhook could not be disabled; the next failure tries again',
      )
    }
    this.#disabling.delete(subscription.id)
    this.#queue.refreshModes()
    this.#pumpSoon()
  }
}
