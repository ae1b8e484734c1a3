import { expect } from 'vitest'
import { addDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import { until } from '../../../support/jobs/process.js'
import { startWebhooks } from '../../../support/jobs/webhook-processes.js'
import { startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import { madeUpDelivery, storedAttempts } from '../../../support/webhooks.js'

const DELIVERIES = 200

test('two jobs processes send no delivery twice, even if one is suspended for longer than the lease and wakes up', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  // All first attempts fail, so that both processes have every delivery in memory, due half a minute later.
  const receiver = await startReceiver((_, times) => (times === 1 ? 500 : 200))
  await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/') })
  const first = startWebhooks(clickhouseEnv)
  await until('the first runs', () => first.output().includes('webhooks: resumed'), [first])
  const second = startWebhooks(clickhouseEnv)
  await until('the second waits', () => second.output().includes('jobs wait'), [second])
  await addDeliveries(
    clickhouse,
    Array.from({ length: DELIVERIES }, (_, i) => madeUpDelivery(i, 'wh_1')),
  )
  const attempts = async (): Promise<number> => (await storedAttempts(clickhouse)).length
  await until('first attempts', async () => (await attempts()) === DELIVERIES, [first, second])
  expect(receiver.received).toHaveLength(DELIVERIES)

  first.child.kill('SIGSTOP')
  await until('the second resumes', () => second.output().includes('webhooks: resumed'), [second])
  await until('second attempts', async () => (await attempts()) === 2 * DELIVERIES, [second])
  // The deliveries in the first one's memory are overdue by now.
  first.child.kill('SIGCONT')
  await until('it notices', () => /the lease (is lost|has expired)/.test(first.output()), [first])
  await until('it waits', () => first.output().includes('jobs wait'), [first])
  await addDeliveries(clickhouse, [madeUpDelivery(DELIVERIES, 'wh_1')])
  await until('a new one is sent', async () => (await attempts()) === 2 * DELIVERIES + 1, [first, second])
  await Promise.all([first.kill('SIGTERM'), second.kill('SIGTERM')])
  await receiver.close()

  expect(receiver.received).toHaveLength(2 * DELIVERIES + 1)
  const rows = await storedAttempts(clickhouse)
  expect(new Set(rows.map(({ delivery_id, attempt }) => `${delivery_id} ${attempt}`)).size).toBe(2 * DELIVERIES + 1)
  expect(new Set(rows.map(({ instance }) => instance)).size).toBe(2)
})
