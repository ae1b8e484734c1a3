import { expect, test } from 'vitest'
import { Quota, QuotaUsage, quotaKey } from '../../../access/quota.js'

const hour = 3_600_000
const start = Date.UTC(2026, 0, 1, 12)
const quota = Quota.parse({ interval_seconds: 3600, requests: 2, result_rows: 100, execution_seconds: 1.5 })

test('the request beyond the limit is refused until the next full interval begins', () => {
  const usage = new QuotaUsage()
  expect(usage.take('a', quota, start)).toBeUndefined()
  expect(usage.take('a', quota, start + hour - 1)).toBeUndefined()
  const exceeded = { resource: 'requests', used: 3, max: 2, nextIntervalMs: start + hour }
  expect(usage.take('a', quota, start + hour - 1)).toEqual(exceeded)
  // A refused request is not counted.
  expect(usage.take('a', quota, start + hour - 1)).toEqual(exceeded)
  expect(usage.take('b', quota, start + hour - 1)).toBeUndefined()
  expect(usage.take('a', quota, start + hour)).toBeUndefined()
})

test.each([
  ['result_rows', 100],
  ['execution_seconds', 1.5],
] as const)('%s may be reached by a request, and the next is refused', (resource, max) => {
  const usage = new QuotaUsage()
  const none = { result_rows: 0, execution_seconds: 0 }
  expect(usage.take('a', quota, start)).toBeUndefined()
  usage.add('a', quota, { ...none, [resource]: max * 0.99 }, start)
  expect(usage.take('a', quota, start)).toBeUndefined()
  usage.add('a', quota, { ...none, [resource]: max }, start)
  const other = Quota.parse({ interval_seconds: 3600, [resource]: max })
  expect(usage.take('a', other, start)).toMatchObject({ resource, max, used: max * 1.99 })
})

test('usage counts in the interval in which a request ends', () => {
  const usage = new QuotaUsage()
  usage.take('a', quota, start)
  usage.add('a', quota, { result_rows: 200, execution_seconds: 0 }, start + hour)
  expect(usage.take('a', quota, start + hour)).toMatchObject({ resource: 'result_rows', used: 200 })
})

test('a client that sends any number of keys does not reset the counts of others', () => {
  const usage = new QuotaUsage()
  for (let i = 0; i < 2; i++) usage.take(quotaKey('plain', quota, ''), quota, start)
  const keyed = { ...quota, keyed: true }
  for (let i = 0; i < 30_000; i++) usage.take(quotaKey('keyed', keyed, `key ${i}`), keyed, start)
  expect(usage.take(quotaKey('plain', quota, 'any'), quota, start)).toMatchObject({ resource: 'requests' })
})
