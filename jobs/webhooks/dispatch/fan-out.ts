import type { ClickHouseClient } from '@clickhouse/client'
import { eventsAfter, type LoggedEvent } from '../../../clickhouse/events/log.js'
import { appendNumbered } from '../../../clickhouse/store/append-numbered.js'
import {
  eventDeliveriesAfter,
  insertWebhookDeliveries,
  type NewDelivery,
  newestDeliveryId,
  plannedSequences,
} from '../../../clickhouse/webhooks/deliveries.js'
import { isHeld } from '../../../clickhouse/webhooks/holding.js'
import { type Subscription, wants } from '../../../clickhouse/webhooks/subscriptions.js'

type Options = {
  clickhouse: ClickHouseClient
  /** Events recorded more than this after they occurred have no deliveries, as when a backfill finds last month's. */
  maxAgeMs: number
  /** About how many planned deliveries may wait to be sent, shared equally by the subscriptions that have any. */
  maxUnsent: number
}

/** What there is to plan. */
type Work = {
  subscriptions: readonly Subscription[]
  /** The newest event. Every subscription that was created before one of the events up to it is in the list. */
  until: number
  /** The number of a subscription's planned deliveries that wait to be sent or are being sent. */
  unsentOf: (subscription_id: string) => number
}

/** How much is read, planned and compared at once: to limit memory, and the time in which nothing is sent. */
const MAX_EVENTS = 500
const MAX_BATCH = 2000
const MAX_COMPARED = 50_000
const PAGE = 10_000
/** Each subscription may have this many, however many there are: one that is sent, and the next. */
const MIN_SHARE = 2

const deliveryOf = (event: LoggedEvent, subscription: Subscription, now: Date): NewDelivery => ({
  subscription_id: subscription.id,
  kind: isHeld(event, subscription, now) ? 'held' : 'event',
  event_id: event.id,
  event_sequence: event.sequence,
  event_type: event.type,
  data: event.data,
  cause: '',
  event_at: event.recorded_at,
  published_at: event.recorded_at,
})

/**
 * How long after it occurred an event was recorded, in milliseconds; of a retraction, the event that it takes back: who
 * was sent that one is sent its retraction, however late.
 */
function delayOf({ type, occurred_at, recorded_at, data }: LoggedEvent): number {
  const recorded = type === 'event.retracted' ? Date.parse(String(data.recorded_at)) : recorded_at.getTime()
  return recorded - occurred_at.getTime()
}

/**
 * Plans the deliveries of events: one for each enabled subscription that wants the event and is older than it. Each
 * subscription goes through the log at its own pace, as far as it has room for deliveries that are not sent yet, so
 * that neither a large event nor a slow receiver delays the others. How far each has come follows from its stored
 * deliveries: a process that is killed resumes there, and of two processes none plans what the other has planned.
 */
export class FanOut {
  readonly #options: Options
  /** The event up to which every subscription had been planned at the start. */
  #floor = 0
  /** By subscription, the newest event that is planned, or that it does not want. */
  readonly #positions = new Map<string, number>()
  /** By subscription, the number of the last batch that it had a turn in. */
  readonly #turns = new Map<string, number>()
  #batches = 0
  /** The newest stored delivery that the positions include. */
  #newest = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Reads how far each subscription has come. All have come to `floor`. */
  async resume(floor: number): Promise<void> {
    const { clickhouse } = this.#options
    this.#floor = floor
    this.#newest = await newestDeliveryId(clickhouse)
    for (const { subscription_id, sequence } of await plannedSequences(clickhouse, { after: floor }))
      this.#advance(subscription_id, sequence)
  }

  /** The newest event up to which every enabled subscription has been planned. */
  plannedUpTo({ subscriptions, until }: Pick<Work, 'subscriptions' | 'until'>): number {
    const enabled = subscriptions.filter(({ state }) => state === 'enabled')
    return enabled.reduce((least, subscription) => Math.min(least, this.#positionOf(subscription)), until)
  }

  /**
   * Plans one batch, of those subscriptions first that have waited longest for their turn; resolves to the number of
   * its deliveries, and to whether there is room to plan more now. Safe to repeat: each delivery is stored once.
   */
  async plan({ subscriptions, until, unsentOf }: Work): Promise<{ planned: number; isMore: boolean }> {
    const { clickhouse, maxAgeMs, maxUnsent } = this.#options
    const isBehind = (subscription: Subscription): boolean => this.#positionOf(subscription) < until
    const enabled = subscriptions.filter(({ state }) => state === 'enabled')
    const active = enabled.filter((subscription) => isBehind(subscription) || unsentOf(subscription.id) > 0)
    const now = new Date()
    const share = Math.max(MIN_SHARE, Math.floor(maxUnsent / active.length))
    const ready = active
      .filter((subscription) => isBehind(subscription) && unsentOf(subscription.id) < share)
      .sort((a, b) => (this.#turns.get(a.id) ?? 0) - (this.#turns.get(b.id) ?? 0))
    const [first] = ready
    if (first === undefined) return { planned: 0, isMore: false }

    const after = this.#positionOf(first)
    const events = await eventsAfter(clickhouse, { after, until, limit: MAX_EVENTS })
    const end = events.length === MAX_EVENTS ? (events.at(-1)?.sequence ?? until) : until
    const recent = events.filter((event) => delayOf(event) <= maxAgeMs)
    const wanted: NewDelivery[] = []
    const reached = new Map<string, number>()
    let compared = 0
    let isMore = false
    this.#batches++
    for (const subscription of ready) {
      const position = this.#positionOf(subscription)
      // Those that have come to another part of the log wait for their turn.
      const isElsewhere = position < after || position >= end
      if (isElsewhere || wanted.length === MAX_BATCH || compared >= MAX_COMPARED) {
        isMore = true
        continue
      }
      const room = share - unsentOf(subscription.id)
      const most = Math.min(wanted.length + room, MAX_BATCH)
      const before = wanted.length
      let upTo = end
      for (const event of recent) {
        compared++
        if (event.sequence <= position || !wants(subscription, event)) continue
        if (wanted.length === most) {
          upTo = event.sequence - 1
          break
        }
        wanted.push(deliveryOf(event, subscription, now))
      }
      reached.set(subscription.id, upTo)
      this.#turns.set(subscription.id, this.#batches)
      isMore ||= upTo < until && wanted.length - before < room
    }
    await this.#store(wanted)
    for (const [id, upTo] of reached) this.#advance(id, upTo)
    return { planned: wanted.length, isMore }
  }

  async #store(wanted: readonly NewDelivery[]): Promise<void> {
    const { clickhouse } = this.#options
    await appendNumbered({
      newest: () => newestDeliveryId(clickhouse),
      missing: async () => {
        await this.#readPlanned()
        return wanted.filter(
          (delivery) => delivery.event_sequence > (this.#positions.get(delivery.subscription_id) ?? 0),
        )
      },
      insert: (missing, first) => insertWebhookDeliveries(clickhouse, missing, first),
    })
  }

  /** Advances the positions by the deliveries that were stored meanwhile, by this process or another one. */
  async #readPlanned(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const page = await eventDeliveriesAfter(this.#options.clickhouse, { after: this.#newest, limit: PAGE })
      for (const { subscription_id, event_sequence } of page) this.#advance(subscription_id, event_sequence)
      this.#newest = page.at(-1)?.delivery_id ?? this.#newest
      isMore = page.length === PAGE
    }
  }

  #positionOf({ id, after_sequence }: Subscription): number {
    return Math.max(this.#floor, after_sequence, this.#positions.get(id) ?? 0)
  }

  #advance(subscription_id: string, sequence: number): void {
    if (sequence > (this.#positions.get(subscription_id) ?? 0)) this.#positions.set(subscription_id, sequence)
  }
}
