import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { LEVEL_CONDITION } from '../events/levels.js'
import { EVENT_COLUMNS, EVENT_FILTER, LoggedEvent } from '../events/log.js'
import type { EventType } from '../events/types.js'
import { BreakFilterParams } from '../peg/break-filter.js'
import { appendNumbered } from '../store/append-numbered.js'
import { defineOptionalRow, defineQuery, onlyColumn } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime, safeInteger, unixSeconds } from '../store/values.js'
import { DELIVERY_KINDS, type DeliveryKind, DIGEST, STATE_OF_ATTEMPTS } from './delivery-log.js'
import { incidentOf } from './incidents.js'

/** A delivery before it has a number; the columns are described in clickhouse/schema. */
export type NewDelivery = {
  subscription_id: string
  kind: DeliveryKind
  event_id: string
  event_sequence: number
  /** That of a digest is none of the log. */
  event_type: EventType | typeof DIGEST
  data: Record<string, unknown>
  cause: string
  event_at: Date
  published_at: Date
}

const EventsOfDigest = z.object({
  events: z.array(z.object({ event: z.string(), data: z.record(z.string(), z.unknown()) })),
})

/**
 * What a delivery is about: one with an incident that an earlier one to the same subscription has is sent after that one. Tests are about
 * nothing, held events are not sent, and replays wait only for others of the same request: who asks for one does not want it to wait.
 */
function incidentsOf({ kind, event_type, data, cause }: NewDelivery): string[] {
  if (kind === 'test' || kind === 'held') return []
  const events = event_type === DIGEST ? EventsOfDigest.parse(data).events : [{ event: event_type, data }]
  const keys = events
    .map((event) => incidentOf(event.event, event.data))
    .filter(({ subject }) => subject !== '')
    .map(({ family, subject }) => `${cause}${cause && ' '}${family}:${subject}`)
  return [...new Set(keys)]
}

/**
 * Adds deliveries with consecutive numbers that start at `first`. Silently does nothing if another writer has already
 * used `first`.
 */
export function insertWebhookDeliveries(
  clickhouse: ClickHouseClient,
  deliveries: readonly NewDelivery[],
  first: number,
): Promise<void> {
  const rows = deliveries.map((delivery, i) => ({
    ...delivery,
    delivery_id: first + i,
    data: JSON.stringify(delivery.data),
    incidents: incidentsOf(delivery),
    event_at: unixSeconds(delivery.event_at),
    published_at: unixSeconds(delivery.published_at),
  }))
  return insertRows(clickhouse, 'webhook_deliveries', rows, `${first}`)
}

/** The maximum number of deliveries added at once: the ids of their events are sent in the URL of a query. */
const MAX_BATCH = 1000

type Key = Pick<NewDelivery, 'subscription_id' | 'event_id' | 'cause'>

const keyOf = ({ subscription_id, event_id, cause }: Key): string => `${subscription_id} ${event_id} ${cause}`

/**
 * Adds the deliveries that are not stored yet, and resolves to the numbers of all, in the order given. Deliveries with
 * the same subscription, event and cause are the same delivery, however often and by however many processes they are
 * added. None of them is stored with an event before `since_sequence`, if others may have added them with another event.
 */
export async function addDeliveries(
  clickhouse: ClickHouseClient,
  newDeliveries: readonly NewDelivery[],
  since_sequence = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const ids = new Map<string, number>()
  for (let i = 0; i < newDeliveries.length; i += MAX_BATCH) {
    const chunk = new Map(newDeliveries.slice(i, i + MAX_BATCH).map((delivery) => [keyOf(delivery), delivery]))
    const deliveries = [...chunk.values()]
    const event_ids = [...new Set(deliveries.map(({ event_id }) => event_id))]
    const subscription_ids = [...new Set(deliveries.map(({ subscription_id }) => subscription_id))]
    const from_sequence = Math.min(since_sequence, ...deliveries.map(({ event_sequence }) => event_sequence))
    await appendNumbered({
      newest: () => newestDeliveryId(clickhouse),
      missing: async () => {
        for (const stored of await knownDeliveries(clickhouse, { event_ids, subscription_ids, from_sequence }))
          ids.set(keyOf(stored), stored.delivery_id)
        return [...chunk].filter(([key]) => !ids.has(key)).map(([, delivery]) => delivery)
      },
      insert: (missing, first) => insertWebhookDeliveries(clickhouse, missing, first),
    })
  }
  return newDeliveries.map((delivery) => ids.get(keyOf(delivery)) as number)
}

/**
 * The deliveries of these events to these subscriptions, with the fields that identify a delivery: subscription, event
 * and cause. No event has a number below `from_sequence`.
 */
const knownDeliveries = defineQuery({
  name: 'known_deliveries',
  params: z.object({ event_ids: z.array(z.string()), subscription_ids: z.array(z.string()), from_sequence: z.int() }),
  row: z.object({ delivery_id: safeInteger, subscription_id: z.string(), event_id: z.string(), cause: z.string() }),
  sql: `
    SELECT delivery_id, subscription_id, event_id, cause
    FROM webhook_deliveries
    WHERE event_id IN {event_ids: Array(String)} AND event_sequence >= {from_sequence: UInt64}
      AND subscription_id IN {subscription_ids: Array(String)}`,
})

/**
 * By subscription, the newest event after the one given that has a delivery because it was recorded, not because of a
 * test or a replay.
 */
export const plannedSequences = defineQuery({
  name: 'planned_sequences',
  params: z.object({ after: z.int() }),
  row: z.object({ subscription_id: z.string(), sequence: safeInteger }),
  sql: `
    SELECT subscription_id, max(event_sequence) AS sequence
    FROM webhook_deliveries WHERE event_sequence > {after: UInt64} AND kind IN ('event', 'held')
    GROUP BY subscription_id`,
})

/** The deliveries of that kind after a number, by number, at most `limit`: to whom they go, and of which event. */
export const eventDeliveriesAfter = defineQuery({
  name: 'event_deliveries_after',
  params: z.object({ after: z.int(), limit: z.int() }),
  row: z.object({ delivery_id: safeInteger, subscription_id: z.string(), event_sequence: safeInteger }),
  sql: `
    SELECT delivery_id, subscription_id, event_sequence
    FROM webhook_deliveries WHERE delivery_id > {after: UInt64} AND kind IN ('event', 'held')
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})

/**
 * The deliveries after a number, by number, at most `limit`. None of them has been attempted yet. `due_ms` in unix
 * milliseconds.
 */
export const newDeliveries = defineQuery({
  name: 'new_deliveries',
  params: z.object({ after: z.int(), limit: z.int() }),
  row: z.object({
    delivery_id: safeInteger,
    subscription_id: z.string(),
    kind: z.enum(DELIVERY_KINDS),
    event_sequence: safeInteger,
    event_at: dateTime,
    event_type: z.string(),
    event_id: z.string(),
    data: z.string(),
    published_at: dateTime,
    incidents: z.array(z.string()),
    due_ms: safeInteger,
  }),
  sql: `
    SELECT delivery_id, subscription_id, kind, event_sequence, event_at, event_type, event_id, data, published_at, incidents,
           toUnixTimestamp64Milli(recorded_at) AS due_ms
    FROM webhook_deliveries WHERE delivery_id > {after: UInt64}
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})

const newestDelivery = defineOptionalRow({
  name: 'newest_delivery',
  row: onlyColumn('delivery_id', safeInteger),
  sql: 'SELECT delivery_id FROM webhook_deliveries ORDER BY delivery_id DESC LIMIT 1',
})

/** The number of the newest delivery; 0 while there is none. Reads only the end of the table. */
export const newestDeliveryId = async (clickhouse: ClickHouseClient): Promise<number> =>
  (await newestDelivery(clickhouse)) ?? 0

/** The contents of the deliveries with these numbers, `data` as JSON text; in no order. */
export const deliveryContents = defineQuery({
  name: 'delivery_contents',
  params: z.object({ ids: z.array(z.int()) }),
  row: z.object({
    delivery_id: safeInteger,
    event_type: z.string(),
    event_id: z.string(),
    data: z.string(),
    published_at: dateTime,
  }),
  sql: `
    SELECT delivery_id, event_type, event_id, data, published_at FROM webhook_deliveries WHERE delivery_id IN {ids: Array(UInt64)}`,
})

/**
 * The deliveries that a request, identified by its key, has already added to a subscription: per cause, the time of the
 * request.
 */
export const requestedDeliveries = defineQuery({
  name: 'webhook_requested_deliveries',
  params: z.object({ subscription_id: z.string(), request_key: z.string() }),
  row: z.object({ cause: z.string(), asked_at: dateTime }),
  sql: `
    SELECT cause, min(event_at) AS asked_at
    FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND splitByChar(':', cause)[1] = {request_key: String}
    GROUP BY cause`,
})

/**
 * The events that were recorded from `since` to `before` and that have one of `types` and, if `stables` is not empty,
 * one of those, of at least a severity, and of peg breaks those that are wanted; in the order of the log, at most `limit`.
 * With `undelivered_to`, only events without a successful or pending delivery to this subscription; deliveries with the
 * same `cause` do not count. A held event is delivered with its digest, or with a replay of that, and pending before.
 */
export const eventsToReplay = defineQuery({
  name: 'webhook_events_to_replay',
  params: z.object({
    since: z.date(),
    before: z.date(),
    types: z.array(z.string()).min(1),
    stables: z.array(z.string()),
    ...BreakFilterParams,
    min_severity: z.string().default(''),
    undelivered_to: z.string().default(''),
    cause: z.string(),
    limit: z.int(),
  }),
  row: LoggedEvent,
  sql: `
    WITH
        ifNull((SELECT minOrNull(sequence_number) FROM events WHERE recorded_at >= {since: DateTime64(3)}), 0xffffffffffffffff) AS first_event,
        ifNull((SELECT minOrNull(delivery_id) FROM webhook_deliveries WHERE event_sequence >= first_event), 0) AS first_delivery,
        undelivered AS
        (
            SELECT delivery_id FROM webhook_attempts
            WHERE subscription_id = {undelivered_to: String} AND delivery_id >= first_delivery
            GROUP BY delivery_id HAVING ${STATE_OF_ATTEMPTS} IN ('failed', 'canceled')
        ),
        lost_digests AS
        (
            SELECT event_id FROM webhook_deliveries
            WHERE subscription_id = {undelivered_to: String} AND event_sequence >= first_event AND event_type = '${DIGEST}'
            GROUP BY event_id HAVING countIf(delivery_id NOT IN undelivered) = 0
        )
    SELECT ${EVENT_COLUMNS}
    FROM events
    WHERE recorded_at >= {since: DateTime64(3)} AND recorded_at < {before: DateTime64(3)} AND ${EVENT_FILTER} AND ${LEVEL_CONDITION}
      AND id NOT IN
      (
          SELECT event_id FROM webhook_deliveries
          WHERE subscription_id = {undelivered_to: String} AND cause != {cause: String} AND event_sequence >= first_event
            AND kind != 'held' AND delivery_id NOT IN undelivered
      )
      AND id NOT IN
      (
          SELECT held.event_id
          FROM
          (
              SELECT subscription_id, event_sequence, event_id FROM webhook_deliveries
              WHERE subscription_id = {undelivered_to: String} AND event_sequence >= first_event AND kind = 'held'
          ) AS held
          ASOF LEFT JOIN
          (
              SELECT subscription_id, event_sequence, event_id FROM webhook_deliveries
              WHERE subscription_id = {undelivered_to: String} AND event_sequence >= first_event AND kind = 'digest'
          ) AS digests ON digests.subscription_id = held.subscription_id AND digests.event_sequence >= held.event_sequence
          WHERE digests.event_id NOT IN lost_digests
      )
    ORDER BY sequence_number LIMIT {limit: UInt32}`,
})
