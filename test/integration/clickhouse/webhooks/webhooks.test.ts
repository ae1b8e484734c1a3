import { expect } from 'vitest'
import { insertWebhookAttempts, type WebhookAttempt } from '../../../../clickhouse/webhooks/attempts.js'
import { DELIVERY_STATES, type Delivery, deliveryPageOfState } from '../../../../clickhouse/webhooks/delivery-log.js'
import {
  addVersion,
  allWebhookSubscriptions,
  changeSubscription,
  insertWebhookSubscription,
  listedWebhookSubscriptions,
  webhookSubscription as newestVersion,
  webhookSubscriptionVersion,
} from '../../../../clickhouse/webhooks/subscriptions.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription, webhookSubscription } from '../../../support/webhook-subscriptions.js'
import { madeUpDelivery } from '../../../support/webhooks.js'

const AT = new Date('2026-09-01T10:20:30.456Z')

test('a subscription is its newest version', async ({ clickhouse }) => {
  const made = await addWebhookSubscription(clickhouse, { stable_filter: ['0xa', '0xb'], after_sequence: 41 })
  expect(await newestVersion(clickhouse, made)).toEqual(made)
  const changed = {
    ...made,
    version: 2,
    label: 'a “label” with \\ and \t in it',
    url: 'http://127.0.0.1:4000/?q=1',
    event_types: ['peg_break.ended' as const],
    stable_filter: [],
    severity: 'severe' as const,
    min_bps: 12.34,
    min_seconds: 4_294_967_295,
    min_size: 1_000_000,
    min_severity: 'critical' as const,
    quiet_from: '22:00',
    quiet_to: '07:30',
    quiet_zone: 'America/Argentina/Ushuaia',
    critical_passes: true,
    digest_minutes: 1440,
    format: 'telegram' as const,
    chat_id: '-1001234567890',
    sealed_url: 'v1.sealed',
    state: 'disabled' as const,
    reason: 'failing' as const,
    previous_secret: made.secret,
    previous_secret_until: AT,
    changed_at: AT,
  }
  expect(await changeSubscription(clickhouse, made.id, () => ({ ...changed, version: 77 }))).toEqual(changed)
  expect(await newestVersion(clickhouse, made)).toEqual(changed)
  expect(await webhookSubscriptionVersion(clickhouse, { id: made.id, version: 1 })).toMatchObject(made)
})

test('concurrent changes are all applied, each on top of the others', async ({ clickhouse }) => {
  const { id } = await addWebhookSubscription(clickhouse, { label: '' })
  const letters = ['a', 'b', 'c', 'd', 'e', 'f']
  const results = await Promise.all(
    letters.map((letter) => changeSubscription(clickhouse, id, (now) => ({ ...now, label: now.label + letter }))),
  )
  const newest = await newestVersion(clickhouse, { id })
  expect([...(newest?.label ?? '')].sort()).toEqual(letters)
  expect(newest?.version).toBe(1 + letters.length)
  expect(new Set(results.map((result) => result?.version)).size).toBe(letters.length)
})

test('a change without effect adds no version, and a change of an unknown subscription creates none', async ({
  clickhouse,
}) => {
  const made = await addWebhookSubscription(clickhouse)
  expect(await changeSubscription(clickhouse, made.id, () => null)).toEqual(made)
  expect(await changeSubscription(clickhouse, 'wh_none', (now) => now)).toBeNull()
  expect(await newestVersion(clickhouse, { id: 'wh_none' })).toBeNull()
})

test('a version whose row was lost in a crash does not block later changes', async ({ clickhouse }) => {
  const made = await addWebhookSubscription(clickhouse)
  await insertWebhookSubscription(
    clickhouse,
    { ...made, version: 2 },
    { change: 'x', request_key: '', request_body: '' },
  )
  // The engine remembers the token, as after a kill between it and the row.
  await clickhouse.command({
    query: 'ALTER TABLE webhook_subscriptions DELETE WHERE version = 2 SETTINGS mutations_sync = 1',
  })
  expect(await changeSubscription(clickhouse, made.id, (now) => ({ ...now, label: 'on' }))).toMatchObject({
    version: 3,
    label: 'on',
  })
})

test('of two first versions with the same id only one is stored', async ({ clickhouse }) => {
  const both = ['one', 'other'].map((label) => webhookSubscription({ id: 'wh_1', label }))
  const added = await Promise.all(both.map((one) => addVersion(clickhouse, one)))
  expect([...added].sort()).toEqual([false, true])
  expect(await newestVersion(clickhouse, { id: 'wh_1' })).toEqual(both[added.indexOf(true)])
})

test('deleted subscriptions are not listed; the others are listed newest first, page by page', async ({
  clickhouse,
}) => {
  const times = [0, 1, 1, 2, 3].map((second, i) => ({
    id: `wh_${i}`,
    created_at: new Date(Date.UTC(2026, 8, 1, 0, 0, second)),
  }))
  for (const one of times) await addWebhookSubscription(clickhouse, one)
  await changeSubscription(clickhouse, 'wh_3', (now) => ({ ...now, state: 'deleted' }))
  await changeSubscription(clickhouse, 'wh_0', (now) => ({ ...now, state: 'disabled', reason: 'admin' }))
  const all = await allWebhookSubscriptions(clickhouse)
  expect(all.map(({ id, state }) => `${id} ${state}`).sort()).toEqual([
    'wh_0 disabled',
    'wh_1 enabled',
    'wh_2 enabled',
    'wh_4 enabled',
  ])
  const first = await listedWebhookSubscriptions(clickhouse, { limit: 2 })
  expect(first.map(({ id }) => id)).toEqual(['wh_4', 'wh_2'])
  const after: [number, string] = [times[2]?.created_at.getTime() as number, 'wh_2']
  const rest = await listedWebhookSubscriptions(clickhouse, { limit: 5, after })
  expect(rest.map(({ id }) => id)).toEqual(['wh_1', 'wh_0'])
})

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
