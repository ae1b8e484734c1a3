import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { insertWebhookAttempts, type WebhookAttempt } from '../../../clickhouse/webhooks/attempts.js'
import { RETRY_DELAYS_SECONDS } from '../../../clickhouse/webhooks/schedule.js'
import { withoutUrl } from '../../../clickhouse/webhooks/secret-urls.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { usesNames } from '../formats/render.js'
import type { Surroundings } from '../formats/writer.js'
import { stablesIn } from '../messages/stables.js'
import { type Exchange, isSuccess, type Sender } from '../send/sender.js'
import { canceledAttempt, requestOf, sentAttempt, TOO_MANY_REQUESTS } from './attempt.js'
import { ContentLoader } from './content-loader.js'
import type { FairQueue, Pending } from './fair-queue.js'
import type { Paces } from './paces.js'
import type { Receivers } from './receivers.js'
import { Recorder } from './recorder.js'
import type { Repeat } from './repeat.js'
import type { Subscribers } from './subscribers.js'
import { Symbols } from './symbols.js'
import type { Turns } from './turns.js'

export type AttemptOptions = {
  clickhouse: ClickHouseClient
  sender: Sender
  /** Random id of the process. */
  instance: string
  /** Whether it is certain that no other process sends. Called before attempts are begun. */
  mayBegin: () => boolean
  /** The URL at which people reach the service, which ends with a slash, for links in messages; null if unknown. */
  siteUrl: string | null
  /** Replaces the schedule in tests. */
  delaysSeconds?: readonly number[]
  log: Logger
  signal: AbortSignal
}

type Options = AttemptOptions & {
  queue: FairQueue
  subscribers: Subscribers
  receivers: Receivers
  paces: Paces
  turns: Turns
  repeat: Repeat
}

/** No attempt is begun while more than this many are not recorded yet, since those would be repeated after a crash. */
const MAX_UNRECORDED = 5000
/** How often it is checked whether attempts in flight have ended. */
const END_CHECK_MS = 50

/** Makes the attempts that are due and records how each ended. */
export class Attempts {
  readonly #options: Options
  readonly #loader: ContentLoader
  readonly #recorder: Recorder
  readonly #symbols: Symbols
  /** Numbers of deliveries that were taken from the queue and whose attempt is not recorded yet. */
  readonly #unsettled = new Set<number>()
  #isBeginning = false
  #inFlight = 0

  constructor(options: Options) {
    const { clickhouse, queue, repeat, log } = options
    this.#options = options
    this.#symbols = new Symbols(clickhouse, log)
    this.#recorder = new Recorder({ insert: (rows, token) => insertWebhookAttempts(clickhouse, rows, token), log })
    this.#loader = new ContentLoader({ clickhouse, queue, repeat, onLoaded: () => this.beginSoon() })
  }

  /** How many attempts have been made but not recorded yet. */
  get unrecorded(): number {
    return this.#recorder.unrecorded
  }

  /** The smallest number of a delivery whose attempt is being made or not recorded; infinite if there is none. */
  smallestId(): number {
    let smallest = Number.POSITIVE_INFINITY
    for (const delivery_id of this.#unsettled) smallest = Math.min(smallest, delivery_id)
    return smallest
  }

  /** Begins the attempts that are due, at the end of this turn of the event loop. */
  beginSoon(): void {
    if (this.#isBeginning) return
    this.#isBeginning = true
    setImmediate(() => {
      this.#isBeginning = false
      this.begin()
    })
  }

  /** Begins as many attempts as the limits allow. */
  begin(): void {
    const { queue, subscribers, paces, signal, mayBegin, instance } = this.#options
    if (paces.end(Date.now())) queue.refreshModes()
    if (signal.aborted || this.#recorder.unrecorded >= MAX_UNRECORDED || !mayBegin()) return
    for (const { pending, mode } of queue.take(Date.now())) {
      this.#unsettled.add(pending.delivery_id)
      const subscription = subscribers.get(pending.subscription_id)
      if (mode === 'send' && subscription) void this.#send(pending, subscription)
      else {
        queue.done(pending)
        this.#record(pending, canceledAttempt(pending, instance, new Date()))
        this.beginSoon()
      }
    }
    void this.#loader.load()
  }

  /** Resolves when all attempts in flight have ended and are recorded. */
  async idle(): Promise<void> {
    while (this.#inFlight > 0) await sleep(END_CHECK_MS)
    await this.#recorder.idle()
  }

  async #send(pending: Pending, subscription: Subscription): Promise<void> {
    const { queue, subscribers, receivers, sender } = this.#options
    this.#inFlight++
    const surroundings = await this.#surroundings(pending, subscription)
    const at = new Date()
    const secrets = subscribers.secretsOf(subscription, at) ?? []
    const url = subscribers.urlOf(subscription) ?? subscription.url
    const exchange = await sender.send(requestOf(pending, subscription, { ...surroundings, url, secrets, at }))
    const response = subscription.sealed_url === '' ? exchange.response : withoutUrl(exchange.response, url)
    const attempt = this.#ended(pending, { ...exchange, response })
    queue.done(pending)
    this.#record(pending, attempt)
    this.#inFlight--
    receivers.ended(subscription, attempt)
    this.beginSoon()
  }

  /** The record of an attempt that has ended. Pauses its subscription if the receiver refused it. */
  #ended({ dueMs, ...pending }: Pending, exchange: Exchange): WebhookAttempt {
    const { queue, paces, instance, delaysSeconds = RETRY_DELAYS_SECONDS } = this.#options
    const { subscription_id } = pending
    const { status, startedAt, waitMs } = exchange
    // It was not due before its subscription was resumed.
    const due = {
      ...pending,
      dueMs: Math.max(dueMs, Math.min(paces.pausedUntil(subscription_id), startedAt.getTime())),
    }
    let resumedMs: number | null = null
    if (status === TOO_MANY_REQUESTS) {
      resumedMs = paces.refused(subscription_id, { startedMs: startedAt.getTime(), waitMs }, Date.now())
      queue.refreshModes()
    } else if (isSuccess(exchange)) paces.taken(subscription_id)
    return sentAttempt(due, exchange, instance, { delaysSeconds, resumedMs })
  }

  async #surroundings({ content }: Pending, { format }: Subscription): Promise<Surroundings> {
    const base = this.#options.siteUrl
    if (content === null || !usesNames(format)) return { base, names: new Map() }
    return { base, names: await this.#symbols.of(stablesIn(content)) }
  }

  /** Records an attempt; the next one, or the deliveries that waited for this one, are queued only after that. */
  #record(pending: Pending, attempt: WebhookAttempt): void {
    const { queue, turns } = this.#options
    this.#recorder.add(attempt, () => {
      this.#unsettled.delete(pending.delivery_id)
      const now = Date.now()
      if (attempt.next_attempt_at === null) {
        // They were not due before.
        for (const next of turns.end(pending)) queue.add({ ...next, dueMs: Math.max(next.dueMs, now) }, now)
        return
      }
      const next = { ...pending, dueMs: attempt.next_attempt_at.getTime() }
      if (attempt.outcome === 'refused') queue.putBack(next)
      else queue.add({ ...next, attempt: pending.attempt + 1, content: null }, now)
    })
  }
}
