import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { addDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { until } from '../../../support/jobs/process.js'
import { startWebhooks } from '../../../support/jobs/webhook-processes.js'
import { type Answer, faultyAnswer, startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import { byDelivery, madeUpDelivery, storedAttempts } from '../../../support/webhooks.js'

const KILLS = depth('KILL_ROUNDS', 2, 50)
const DELIVERIES = depth('WEBHOOK_DELIVERIES', 250, 5_000)
const SEED = Number(process.env.FAULT_SEED ?? 1)
const ENDPOINTS = 10
/** Responses take a while, so that a kill interrupts some. */
const LONGEST_ANSWER_MS = 30

test(
  'kill -9 of the dispatcher loses no delivery, and repeats only attempts that were sent but not recorded',
  async ({ clickhouseEnv, clickhouse }) => {
    const random = randomFor(SEED, 'kills of dispatchers')
    const given = new Map<number, Answer[]>()
    const receiver = await startReceiver(async (hook, times) => {
      const answer = faultyAnswer(SEED, 0.2, hook, times)
      given.set(hook.delivery_id, [...(given.get(hook.delivery_id) ?? []), answer])
      await sleep(random.next() * LONGEST_ANSWER_MS)
      return answer
    })
    for (let i = 0; i < ENDPOINTS; i++)
      await addWebhookSubscription(clickhouse, { id: `wh_${i}`, url: receiver.url(`/${i}`) })

    // Enough deliveries for a kill in each round.
    const perRound = Math.ceil(DELIVERIES / KILLS)
    let added = 0
    const ids: number[] = []
    const addRound = async (): Promise<void> => {
      const count = Math.min(perRound, DELIVERIES - added)
      const wanted = Array.from({ length: count }, (_, i) => madeUpDelivery(added + i, `wh_${(added + i) % ENDPOINTS}`))
      ids.push(...(await addDeliveries(clickhouse, wanted)))
      added += count
    }
    /** Requests without a row, once those in flight at the kill have ended. */
    const settledDifference = async (): Promise<number> => {
      let before = ''
      for (;;) {
        const [requests, rows] = [receiver.received.length, (await storedAttempts(clickhouse)).length]
        if (before === `${requests} ${rows}`) return requests - rows
        before = `${requests} ${rows}`
        await sleep(500)
      }
    }
    let unrecorded = 0
    for (let kill = 0; kill < KILLS; kill++) {
      await addRound()
      const jobs = startWebhooks(clickhouseEnv, { WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT: '2' })
      const enough = receiver.received.length + random.int(1, Math.floor(perRound / 2))
      await until('it sends', () => receiver.received.length >= enough, [jobs])
      await sleep(random.next() * 150)
      await jobs.kill('SIGKILL')
      unrecorded = await settledDifference()
    }
    const last = startWebhooks(clickhouseEnv)
    await until(
      'every delivery has an attempt',
      async () => new Set((await storedAttempts(clickhouse)).map(({ delivery_id }) => delivery_id)).size === DELIVERIES,
      [last],
      600,
    )
    await last.kill('SIGTERM')
    await receiver.close()

    const attempts = byDelivery(await storedAttempts(clickhouse))
    const received = byDelivery(receiver.received)
    expect(new Set(ids).size).toBe(DELIVERIES)
    const count = { successful: 0, scheduled: 0, repeated: 0 }
    for (const id of ids) {
      const own = attempts.get(id) ?? []
      // Each attempt is recorded once, and the last one shows that the delivery has ended, or when it continues.
      expect(own.map(({ attempt }) => attempt)).toEqual(own.map((_, i) => i + 1))
      const end = own.at(-1)
      if (end?.outcome === 'success') count.successful++
      else {
        expect(end?.next, `delivery ${id}`).not.toBeNull()
        count.scheduled++
      }
      // A delivery received more often than recorded was interrupted by a kill before it was recorded.
      const repeated = (received.get(id)?.length ?? 0) - own.length
      expect(repeated).toBeGreaterThanOrEqual(0)
      expect(repeated).toBeLessThanOrEqual(KILLS)
      count.repeated += repeated
      expect(new Set(received.get(id)?.map(({ body }) => body)).size).toBe(1)
    }
    expect(count.successful + count.scheduled).toBe(DELIVERIES)
    expect(count.successful).toBeGreaterThan(DELIVERIES / 2)
    // No more than were in flight at a kill.
    expect(count.repeated).toBe(unrecorded)
    console.log(
      `${KILLS} kills during ${DELIVERIES} deliveries: ${count.successful} successful, ${count.scheduled} scheduled, none lost; ` +
        `${receiver.received.length} requests, ${count.repeated} of them repeated after a kill between sending and recording`,
    )
  },
  900_000 + KILLS * 60_000,
)

const SHARED_DELIVERIES = 200

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
    Array.from({ length: SHARED_DELIVERIES }, (_, i) => madeUpDelivery(i, 'wh_1')),
  )
  const attempts = async (): Promise<number> => (await storedAttempts(clickhouse)).length
  await until('first attempts', async () => (await attempts()) === SHARED_DELIVERIES, [first, second])
  expect(receiver.received).toHaveLength(SHARED_DELIVERIES)

  first.child.kill('SIGSTOP')
  await until('the second resumes', () => second.output().includes('webhooks: resumed'), [second])
  await until('second attempts', async () => (await attempts()) === 2 * SHARED_DELIVERIES, [second])
  // The deliveries in the first one's memory are overdue by now.
  first.child.kill('SIGCONT')
  await until('it notices', () => /the lease (is lost|has expired)/.test(first.output()), [first])
  await until('it waits', () => first.output().includes('jobs wait'), [first])
  await addDeliveries(clickhouse, [madeUpDelivery(SHARED_DELIVERIES, 'wh_1')])
  await until('a new one is sent', async () => (await attempts()) === 2 * SHARED_DELIVERIES + 1, [first, second])
  await Promise.all([first.kill('SIGTERM'), second.kill('SIGTERM')])
  await receiver.close()

  expect(receiver.received).toHaveLength(2 * SHARED_DELIVERIES + 1)
  const rows = await storedAttempts(clickhouse)
  expect(new Set(rows.map(({ delivery_id, attempt }) => `${delivery_id} ${attempt}`)).size).toBe(
    2 * SHARED_DELIVERIES + 1,
  )
  expect(new Set(rows.map(({ instance }) => instance)).size).toBe(2)
})
