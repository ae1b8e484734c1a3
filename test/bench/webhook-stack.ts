import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { ClickHouseClient } from '@clickhouse/client'
import type { EventType } from '../../clickhouse/events/types.js'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { insertRows } from '../../clickhouse/store/insert.js'
import { unixSeconds } from '../../clickhouse/store/values.js'
import { seal } from '../../process/sealed-secret.js'
import { startProgram } from './programs.js'
import type { Arrived } from './webhook-receiver.js'
import type { Order } from './webhook-sender.js'

const SECRETS_KEY = Buffer.alloc(32, 7)
export const SECRET = `whsec_${Buffer.alloc(24, 3).toString('base64')}`

/** What an event of a peg break has. */
export const DATA = JSON.stringify({
  stable: `0x20c1${'0'.repeat(35)}1`,
  severity: 'severe',
  started_at: '2026-07-01T12:00:00Z',
  max_deviation_bps: 61.25,
  started_block: 1_234_567,
})

/** A process that answers questions. */
async function ask<Answer>(child: ChildProcess, question: string | Order): Promise<Answer> {
  const answered = once(child, 'message')
  child.send(question)
  return (await answered)[0] as Answer
}

/** The receiver in a process of its own. */
export async function startReceiver() {
  const { child, line, stop } = await startProgram('test/bench/webhook-receiver.js', {}, 'receiver ')
  return {
    url: (path: string): string => `${line.split(' ')[1]}${path}`,
    count: () => ask<number>(child, 'count'),
    /** What has arrived since it was asked before. */
    arrived: () => ask<Arrived>(child, 'arrived'),
    stop,
  }
}

/** A sender in a process of its own; it does nothing before it is told to. */
export async function startSender(env: ClickHouseEnv) {
  const settings = {
    SECRETS_KEY: SECRETS_KEY.toString('base64url'),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    WEBHOOK_ALLOWED_PORTS: 'any',
  }
  const { child, stop } = await startProgram('test/bench/webhook-sender.js', { ...env, ...settings }, 'sender ready')
  return {
    pid: child.pid as number,
    dispatch: (): void => void child.send({ kind: 'dispatcher' } satisfies Order),
    sendPlain: (order: Omit<Order & { kind: 'plain' }, 'kind'>) => ask<'done'>(child, { kind: 'plain', ...order }),
    stop,
    child,
  }
}

/** The id of the subscription at a place of a list. */
export const subscriptionId = (list: string, place: number): string => `wh_${list}_${place}`

/** A list of subscriptions, to all starts of peg breaks if not to other events. */
export async function subscribe(
  clickhouse: ClickHouseClient,
  list: string,
  urls: readonly string[],
  event_types: readonly EventType[] = ['peg_break.started'],
): Promise<void> {
  const at = unixSeconds(new Date())
  // All in one insert: there may be thousands.
  const versions = urls.map((url, i) => ({
    id: subscriptionId(list, i),
    version: 1,
    label: 'bench',
    url,
    event_types,
    format: 'plumbline',
    state: 'enabled',
    secret: seal(SECRETS_KEY, subscriptionId(list, i), SECRET),
    created_at: at,
    changed_at: at,
  }))
  await insertRows(clickhouse, 'webhook_subscriptions', versions, list)
}

/** Deliveries with the numbers from 1 to `count`, to the subscriptions of a list in turn. */
export const addDeliveries = (
  clickhouse: ClickHouseClient,
  count: number,
  list: string,
  subscriptions: number,
): Promise<unknown> =>
  clickhouse.command({
    query: `
      INSERT INTO webhook_deliveries (delivery_id, subscription_id, kind, event_id, event_sequence, event_type, data, cause, event_at)
      SELECT number + 1, concat('${subscriptionId(list, 0).slice(0, -1)}', number % ${subscriptions}), 'event',
             concat('evt_', toString(number)), number + 1, 'peg_break.started', '${DATA}', '', now64(3)
      FROM numbers(${count})`,
  })

/** Removes all deliveries and attempts, so that the next run begins with a database that is as new. */
export async function clearDeliveries(clickhouse: ClickHouseClient): Promise<void> {
  for (const table of ['webhook_deliveries', 'webhook_attempts', 'webhook_subscriptions', 'webhook_fan_outs'])
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` })
}
