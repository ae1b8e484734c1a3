// Memory and start-up time of the dispatcher with 100,000 deliveries that wait for a retry, behind a million that are over.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertWebhookFanOut } from '../../clickhouse/webhooks/fan-outs.js'
import { statsOf } from './process-stats.js'
import { startStack } from './stack.js'
import {
  addDeliveries,
  clearDeliveries,
  startReceiver,
  startSender,
  subscribe,
  subscriptionId,
} from './webhook-stack.js'

const PENDING = Number(process.env.PENDING ?? 100_000)
const OVER = Number(process.env.OVER ?? 1_000_000)
const SUBSCRIPTIONS = 100

/** A first attempt of the deliveries after `from` up to `to`: the retry is due in the next day, or there is none. */
const addAttempts = (clickhouse: ClickHouseClient, from: number, to: number, isOver: boolean): Promise<unknown> =>
  clickhouse.command({
    query: `
      INSERT INTO webhook_attempts (delivery_id, attempt, subscription_id, outcome, status, error, response, due_at, started_at, duration_ms, next_attempt_at, instance)
      SELECT ${from} + number + 1, 1, concat('${subscriptionId('all', 0).slice(0, -1)}', (${from} + number) % ${SUBSCRIPTIONS}),
             '${isOver ? 'success' : 'failure'}', ${isOver ? 200 : 500}, '', '', now64(3), now64(3), 12,
             ${isOver ? 'NULL' : 'now64(3) + INTERVAL 1 HOUR + toIntervalSecond(cityHash64(number) % 82800)'}, 'bench'
      FROM numbers(${to - from})`,
  })

const stack = await startStack()
const receiver = await startReceiver()
try {
  const { env, clickhouse } = await stack.database('webhooks')
  const measure = async (over: number, pending: number): Promise<{ residentMb: number; ms: number; later: number }> => {
    await clearDeliveries(clickhouse)
    const urls = Array.from({ length: SUBSCRIPTIONS }, (_, i) => receiver.url(`/${i}`))
    await subscribe(clickhouse, `all${over}${pending}`, urls)
    await addDeliveries(clickhouse, over + pending, 'all', SUBSCRIPTIONS)
    if (over > 0) await addAttempts(clickhouse, 0, over, true)
    if (pending > 0) await addAttempts(clickhouse, over, over + pending, false)
    await insertWebhookFanOut(clickhouse, { sequence: over, settled_before: over + 1 })
    const sender = await startSender(env)
    const lines = createInterface({ input: sender.child.stdout as NodeJS.ReadableStream })
    const told = once(lines, 'line')
    sender.dispatch()
    const { ms, later } = JSON.parse(String((await told)[0])) as { ms: number; later: number }
    await sleep(3000)
    const { residentMb } = statsOf(sender.pid)
    await sender.stop()
    return { residentMb, ms, later }
  }
  const none = await measure(0, 0)
  const many = await measure(OVER, PENDING)
  console.log(
    `${many.later} pending retries behind ${OVER} deliveries that are over: start-up ${many.ms} ms (${none.ms} ms with none), ` +
      `${many.residentMb.toFixed(0)} MB resident (${none.residentMb.toFixed(0)} MB with none)`,
  )
} finally {
  await receiver.stop()
  await stack.close()
}
