import { expect, test } from 'vitest'
import { FailingSubscriptions } from '../../../../../jobs/webhooks/dispatch/failing.js'

const HOUR = 3_600_000
const START = Date.parse('2026-03-01T00:00:00Z')
const at = (hours: number): Date => new Date(START + hours * HOUR)

test('a subscription is disabled after exactly 120 hours of nothing but failures', () => {
  const failing = new FailingSubscriptions(120 * HOUR)
  for (let hours = 0; hours < 120; hours += 10) expect(failing.failed('wh_1', at(hours))).toBe(false)
  expect(failing.failed('wh_1', new Date(START + 120 * HOUR - 1))).toBe(false)
  expect(failing.failed('wh_2', at(120))).toBe(false)
  expect(failing.failed('wh_1', at(120))).toBe(true)
})

test('a success or a change restarts the count', () => {
  const failing = new FailingSubscriptions(120 * HOUR)
  for (let hours = 0; hours < 119; hours++) failing.failed('wh_1', at(hours))
  failing.forget('wh_1')
  expect(failing.failed('wh_1', at(121))).toBe(false)
  for (let hours = 122; hours < 241; hours++) expect(failing.failed('wh_1', at(hours))).toBe(false)
  expect(failing.failed('wh_1', at(241))).toBe(true)
})

test('fewer than seven failures never disable a subscription, however long ago the first one was', () => {
  const failing = new FailingSubscriptions(120 * HOUR, [['wh_1', { since: at(0), failures: 5 }]])
  expect(failing.failed('wh_1', at(200))).toBe(false)
  expect(failing.failed('wh_1', at(201))).toBe(true)
})
