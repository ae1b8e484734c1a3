import { expect } from 'vitest'
import { insertWebhookAttempts, type WebhookAttempt } from '../../../../clickhouse/webhooks/attempts.js'
import { DELIVERY_STATES, type Delivery, deliveryPageOfState } from '../../../../clickhouse/webhooks/delivery-log.js'
import { test } from '../../../support/services.js'
import { madeUpDelivery } from '../../../support/webhooks.js'

const NOW = new Date('2026-03-01T00:00:00Z')

const attempt = (delivery_id: number, subscription_id: string, values: Partial<WebhookAttempt>): WebhookAttempt => ({
  delivery_id,
  attempt: 1,
  subscription_id,
  outcome: 'success',
  status: 200,
  error: '',
  response: '',
  due_at: NOW,
  started_at: NOW,
  duration_ms: 1,
  next_attempt_at: null,
  instance: 'test',
  ...values,
})

/** The attempts that leave a delivery in a state. A success counts, even if another process recorded a last failure. */
function attemptsFor(state: Delivery['state'], id: number, to: string): WebhookAttempt[] {
  const retried = attempt(id, to, { outcome: 'failure', next_attempt_at: NOW })
  const last = attempt(id, to, { attempt: 2, outcome: 'failure' })
  if (state === 'held') return []
  if (state === 'pending') return id % 2 === 0 ? [] : [retried]
  if (state === 'successful')
    return id % 2 === 0 ? [attempt(id, to, {})] : [retried, last, { ...last, outcome: 'success' }]
  return [retried, state === 'failed' ? last : { ...last, outcome: 'canceled' }]
}

test('the pages of each state have every delivery once, the newest first, however far apart they are', async ({
  clickhouse,
}) => {
  const numbers = [
    1, 2, 9_999, 10_000, 10_001, 19_999, 20_000, 55_000, 55_001, 120_000, 120_001, 400_000, 400_007, 400_012,
  ]
  const states = numbers.map((id, i) => ({ id, to: `wh_${i % 2}`, state: DELIVERY_STATES[(i * 7) % 5] ?? 'pending' }))
  // Some of each state for both, in every stretch of numbers.
  const all = states.flatMap(({ id, to, state }) => [
    { id: id * 10, to, state },
    { id: id * 10 + 1, to, state },
    { id: id * 10 + 2, to, state },
    { id: id * 10 + 3, to: to === 'wh_0' ? 'wh_1' : 'wh_0', state },
  ])
  const rows = all.map(({ id, to, state }) => ({
    ...madeUpDelivery(id, to, state === 'held' ? { kind: 'held' } : {}),
    delivery_id: id,
    event_at: 1,
    published_at: 1,
    data: '{}',
  }))
  await clickhouse.insert({ table: 'webhook_deliveries', values: rows, format: 'JSONEachRow' })
  await insertWebhookAttempts(
    clickhouse,
    all.flatMap(({ id, to, state }) => attemptsFor(state, id, to)),
    'all',
  )
  for (const state of DELIVERY_STATES) {
    for (const subscription_id of ['wh_0', 'wh_1']) {
      const expected = all.filter((one) => one.state === state && one.to === subscription_id).map(({ id }) => id)
      const pages: number[] = []
      for (let before: number | undefined; ; before = pages.at(-1)) {
        const page = await deliveryPageOfState(clickhouse, { subscription_id, state, before, limit: 2 })
        if (page.length === 0) break
        pages.push(...page)
      }
      expect(pages).toEqual(expected.toSorted((a, b) => b - a))
      expect(pages.length).toBeGreaterThan(0)
    }
  }
})
