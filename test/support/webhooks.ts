import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import type { AttemptOutcome } from '../../clickhouse/webhooks/attempts.js'
import type { NewDelivery } from '../../clickhouse/webhooks/deliveries.js'
import { Dispatcher, type DispatcherOptions } from '../../jobs/webhooks/dispatch/dispatcher.js'
import { createSender } from '../../jobs/webhooks/send/sender.js'
import { type IpNetwork, parseIpNetwork } from '../../process/ip-networks.js'
import { madeUpEvent } from './events.js'
import { SECRETS_KEY } from './webhook-subscriptions.js'

/** A delivery of a fictitious event to `subscription_id`. */
export function madeUpDelivery(i: number, subscription_id: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  const { id, type, data, occurred_at } = madeUpEvent(i)
  return {
    subscription_id,
    kind: 'event',
    event_id: id,
    event_sequence: i,
    event_type: type,
    data,
    cause: '',
    event_at: occurred_at,
    published_at: occurred_at,
    ...changes,
  }
}

/** The secret of test subscriptions. */
export const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'

/** Starts a dispatcher that sends to this machine, with a timeout of two seconds per attempt. */
export function startDispatcher(
  clickhouse: ClickHouseClient,
  options: Partial<DispatcherOptions> = {},
): { dispatcher: Dispatcher; stop: () => Promise<void> } {
  const sender = createSender({
    rules: { networks: [parseIpNetwork('127.0.0.0/8') as IpNetwork], ports: 'any' },
    resolve: async () => [],
    timeoutMs: 2000,
    userAgent: 'Service-Webhook/1 (+http://localhost)',
  })
  const stopping = new AbortController()
  const dispatcher = new Dispatcher({
    clickhouse,
    sender,
    secretsKey: SECRETS_KEY,
    instance: 'test',
    mayBegin: () => true,
    maxInFlight: 100,
    maxInFlightOfOne: 8,
    maxEventAgeMs: 86_400_000,
    disableAfterMs: 86_400_000,
    siteUrl: null,
    log: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    signal: stopping.signal,
    ...options,
  })
  const running = dispatcher.run()
  return {
    dispatcher,
    stop: async () => {
      stopping.abort()
      await running
      await sender.close()
    },
  }
}

/** A stored attempt; times are in milliseconds. */
export type StoredAttempt = {
  delivery_id: number
  attempt: number
  subscription_id: string
  outcome: AttemptOutcome
  status: number
  error: string
  response: string
  instance: string
  started: number
  next: number | null
}

/** All attempts, by delivery and number. */
export async function storedAttempts(clickhouse: ClickHouseClient): Promise<StoredAttempt[]> {
  const query = `
    SELECT toUInt32(delivery_id) AS delivery_id, attempt, subscription_id, outcome, status, error, response, instance,
           toUnixTimestamp64Milli(started_at)::Float64 AS started, toUnixTimestamp64Milli(next_attempt_at)::Nullable(Float64) AS next
    FROM webhook_attempts ORDER BY webhook_attempts.delivery_id, attempt, started_at`
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<StoredAttempt>()
}

/** The numbers of the deliveries to a subscription. */
export async function deliveryIds(clickhouse: ClickHouseClient, subscription_id: string): Promise<number[]> {
  const query = `SELECT toUInt32(delivery_id) AS delivery_id FROM webhook_deliveries
                 WHERE subscription_id = '${subscription_id}' ORDER BY webhook_deliveries.delivery_id`
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ delivery_id: number }>()
  return rows.map(({ delivery_id }) => delivery_id)
}

/** Waits until this many deliveries have their last attempt. */
export const deliveriesOver = (clickhouse: ClickHouseClient, count: number, seconds = 240): Promise<void> =>
  eventually(`${count} deliveries over`, seconds, async () => {
    const over = (await storedAttempts(clickhouse)).filter(({ next }) => next === null)
    return new Set(over.map(({ delivery_id }) => delivery_id)).size >= count
  })

/** Waits until `isSo` is true; fails after `seconds`. */
export async function eventually(what: string, seconds: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(200)) if (await isSo()) return
  throw new Error(`not within ${seconds} s: ${what}`)
}

/** Groups items by delivery, in the given order. */
export function byDelivery<Item extends { delivery_id: number }>(items: readonly Item[]): Map<number, Item[]> {
  const groups = new Map<number, Item[]>()
  for (const item of items) groups.set(item.delivery_id, [...(groups.get(item.delivery_id) ?? []), item])
  return groups
}
