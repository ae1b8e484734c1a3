import { hash } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime, safeInteger } from '../store/values.js'
import { type WebhookContent, webhookBody } from './body.js'
import { addDeliveries, deliveryContents } from './deliveries.js'
import { DIGEST } from './delivery-log.js'

/** Most events in one digest: a few hundred kilobytes, well below what receivers usually accept. */
export const MOST_DIGESTED = 200

/** A held event, as it is stored. */
export type Held = { delivery_id: number; subscription_id: string; event_sequence: number; event_at: Date }

/** The held events and the digests with `from` <= number <= `until`, by number, at most `limit`. */
export const heldAndDigests = defineQuery({
  name: 'webhook_held_and_digests',
  params: z.object({ from: z.int(), until: z.int(), limit: z.int() }),
  row: z.object({
    delivery_id: safeInteger,
    subscription_id: z.string(),
    kind: z.enum(['held', 'digest']),
    event_sequence: safeInteger,
    event_at: dateTime,
  }),
  sql: `
    SELECT delivery_id, subscription_id, kind, event_sequence, event_at
    FROM webhook_deliveries
    WHERE delivery_id >= {from: UInt64} AND delivery_id <= {until: UInt64} AND kind IN ('held', 'digest')
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})

/** A subscription's digests that cover an event with this number or a later one, in order, at most `limit`. */
export const digestsFrom = defineQuery({
  name: 'webhook_digests_from',
  params: z.object({ subscription_id: z.string(), from_sequence: z.int(), limit: z.int() }),
  row: z.object({ delivery_id: safeInteger, event_sequence: safeInteger }),
  sql: `
    SELECT delivery_id, event_sequence FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND event_sequence >= {from_sequence: UInt64} AND kind = 'digest'
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})

/**
 * Stores one digest of the first held events of a subscription, at most MOST_DIGESTED; they are given in order, and none before
 * them is without a digest. Its id is made of the first event's, so that of two processes one stores it: what the other would
 * have had more stays held, for the next digest.
 */
export async function addDigest(clickhouse: ClickHouseClient, heldEvents: readonly Held[], now: Date): Promise<void> {
  const covered = heldEvents.slice(0, MOST_DIGESTED)
  const [first, last] = [covered[0], covered.at(-1)]
  if (first === undefined || last === undefined) return
  const contents = await deliveryContents(clickhouse, { ids: covered.map(({ delivery_id }) => delivery_id) })
  const byId = new Map(contents.map((content) => [content.delivery_id, content]))
  const { subscription_id } = first
  const digest = {
    subscription_id,
    kind: 'digest' as const,
    event_id: `dig_${hash('sha256', `${subscription_id}:${first.delivery_id}`).slice(0, 32)}`,
    event_sequence: last.event_sequence,
    event_type: DIGEST,
    data: digestData(
      covered.map(({ delivery_id }) => {
        const content = byId.get(delivery_id)
        if (content === undefined) throw new Error(`held delivery ${delivery_id} cannot be read`)
        return { delivery_id, content }
      }),
    ),
    cause: '',
    event_at: now,
    published_at: now,
  } as const
  await addDeliveries(clickhouse, [digest], first.event_sequence)
}

type Digested = { delivery_id: number; content: WebhookContent }

/** What a digest is stored as: its events, each as it would be sent alone. */
export const digestData = (events: readonly Digested[]): Record<string, unknown> => ({
  events: events.map(({ delivery_id, content }) => JSON.parse(webhookBody(delivery_id, content)) as unknown),
})

const DigestData = z.object({
  events: z.array(
    z.object({
      event: z.string(),
      data: z.record(z.string(), z.unknown()),
      delivery_id: z.int(),
      event_id: z.string(),
      published_at: dateTime,
    }),
  ),
})

/** The events of a stored digest, in order; null if it is a delivery of one event. */
export function digestedEvents({ event_type, data }: Pick<WebhookContent, 'event_type' | 'data'>): Digested[] | null {
  if (event_type !== DIGEST) return null
  return DigestData.parse(JSON.parse(data)).events.map(({ event, data, delivery_id, event_id, published_at }) => ({
    delivery_id,
    content: { event_type: event, event_id, data: JSON.stringify(data), published_at },
  }))
}
