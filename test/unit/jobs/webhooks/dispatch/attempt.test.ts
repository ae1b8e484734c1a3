import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { canceledAttempt, requestOf, sentAttempt } from '../../../../../jobs/webhooks/dispatch/attempt.js'
import type { Exchange } from '../../../../../jobs/webhooks/send/sender.js'
import { webhookSubscription } from '../../../../support/webhook-subscriptions.js'

const STARTED = new Date('2026-03-01T00:00:00.250Z')
const pending = {
  delivery_id: 77,
  subscription_id: 'wh_1',
  attempt: 1,
  dueMs: STARTED.getTime() - 250,
  incidents: [],
  content: {
    event_type: 'peg_break.started',
    event_id: 'evt_1',
    data: '{"stable":"0x20c1","severity":"mild"}',
    published_at: new Date('2026-02-28T23:59:59.987Z'),
  },
}
const exchange: Exchange = {
  status: 204,
  error: null,
  response: '',
  waitMs: null,
  startedAt: STARTED,
  durationMs: 750,
}
const around = { url: 'https://receiver.test/hook', at: STARTED, base: null, names: new Map() }
const delaysSeconds = [30, 120]
const recorded = (changes: Partial<Exchange>, attempt = 1, resumedMs: number | null = null) =>
  sentAttempt({ ...pending, attempt }, { ...exchange, ...changes }, 'instance', { delaysSeconds, resumedMs })

test('a request has the documented body and the documented headers', () => {
  const secrets = ['whsec_new', 'whsec_old']
  const { url, body, headers, contentType } = requestOf(pending, webhookSubscription(), { ...around, secrets })
  expect(contentType).toBe('application/json')
  expect(url).toBe('https://receiver.test/hook')
  expect(JSON.parse(body)).toEqual({
    event: 'peg_break.started',
    data: { stable: '0x20c1', severity: 'mild' },
    delivery_id: 77,
    event_id: 'evt_1',
    published_at: '2026-02-28T23:59:59.987Z',
  })
  const t = STARTED.getTime() / 1000 - 0.25
  const v1 = (secret: string): string => createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  expect(headers).toEqual({
    'x-service-signature': `t=${t},v1=${v1('whsec_new')},v1=${v1('whsec_old')}`,
    'x-service-event': 'peg_break.started',
    'x-service-delivery': '77',
  })
})

test.each([200, 201, 204, 299])('%i ends a delivery as successful', (status) => {
  expect(recorded({ status })).toMatchObject({ outcome: 'success', status, next_attempt_at: null })
})

test.each<[Partial<Exchange>, string | null]>([
  [{ status: 500 }, '2026-03-01T00:00:31.000Z'],
  [{ status: 302, error: 'redirects are not followed' }, '2026-03-01T00:00:31.000Z'],
  [{ status: 200, error: 'timeout' }, '2026-03-01T00:00:31.000Z'],
  [{ status: null, error: 'connection lost' }, '2026-03-01T00:00:31.000Z'],
  [{ status: 503, waitMs: 60_000 }, '2026-03-01T00:01:01.000Z'],
  [{ status: 410 }, null],
])('%j is a failure, retried at %s', (changes, next) => {
  expect(recorded(changes)).toEqual({
    delivery_id: 77,
    attempt: 1,
    subscription_id: 'wh_1',
    outcome: 'failure',
    status: changes.status ?? 0,
    error: changes.error ?? '',
    response: '',
    due_at: new Date(pending.dueMs),
    started_at: STARTED,
    duration_ms: 750,
    next_attempt_at: next && new Date(next),
    instance: 'instance',
  })
})

test('the last attempt of a schedule is not retried', () => {
  expect(recorded({ status: 500 }, 2).next_attempt_at).toEqual(new Date('2026-03-01T00:02:01Z'))
  expect(recorded({ status: 500 }, 3).next_attempt_at).toBeNull()
})

test.each([1, 3])('a refused attempt %i is made again when its subscription is resumed', (attempt) => {
  const resumed = new Date('2026-03-01T00:10:00Z')
  expect(recorded({ status: 429, waitMs: 500 }, attempt, resumed.getTime())).toMatchObject({
    attempt,
    outcome: 'refused',
    status: 429,
    next_attempt_at: resumed,
  })
})

test('a canceled delivery is not attempted again', () => {
  expect(canceledAttempt(pending, 'instance', STARTED)).toMatchObject({ outcome: 'canceled', next_attempt_at: null })
})
