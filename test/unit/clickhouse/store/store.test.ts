import { ClickHouseError } from '@clickhouse/client'
import { expect, test } from 'vitest'
import { bucketPage } from '../../../../clickhouse/store/buckets.js'
import { QueryError } from '../../../../clickhouse/store/query-error.js'

const HOUR = 3600
const range = {
  interval: '1h',
  from: 0,
  to: 100 * HOUR,
  oldest: 10 * HOUR + 1,
  newest: 20 * HOUR + 1,
  limit: 1000,
} as const

test('a range is limited to the buckets from the first block’s to the last one before the newest block’s', () => {
  expect(bucketPage(range)).toEqual({ first: 10 * HOUR, end: 20 * HOUR, count: 10, next: null })
  // A block at the very end of a bucket belongs to it; the newest block must be later.
  expect(bucketPage({ ...range, oldest: 10 * HOUR, newest: 20 * HOUR })).toMatchObject({
    first: 9 * HOUR,
    end: 19 * HOUR,
  })
})

test('a range contains the buckets that start in it', () => {
  expect(bucketPage({ ...range, from: 12 * HOUR, to: 14 * HOUR })).toMatchObject({ first: 12 * HOUR, end: 14 * HOUR })
  expect(bucketPage({ ...range, from: 12 * HOUR + 1, to: 14 * HOUR + 1 })).toMatchObject({
    first: 13 * HOUR,
    end: 15 * HOUR,
  })
  expect(bucketPage({ ...range, from: 12 * HOUR + 1, to: 12 * HOUR + 2 }).count).toBe(0)
})

test('pages are consecutive without gaps', () => {
  const page = bucketPage({ ...range, limit: 4 })
  expect(page).toEqual({ first: 10 * HOUR, end: 14 * HOUR, count: 4, next: 14 * HOUR })
  expect(bucketPage({ ...range, limit: 6, after: 14 * HOUR })).toMatchObject({ first: 14 * HOUR, count: 6, next: null })
  expect(bucketPage({ ...range, limit: 4, after: 90 * HOUR })).toMatchObject({ count: 0, next: null })
})

const failed = (code: number) => new QueryError('read', new ClickHouseError({ code: `${code}`, message: 'no' }))

test('an error of the statement, the values, the user or the schema stays, and says what to do', () => {
  const staying = [6, 16, 27, 36, 42, 43, 46, 47, 48, 50, 53, 57, 60, 62, 69, 73, 81, 115, 158, 164, 193, 215, 349]
  expect([...staying, 386, 396, 407, 452, 456, 469, 497, 516].filter((code) => failed(code).retryable)).toEqual([])
  expect(failed(516).message).toBe('read: no; check CLICKHOUSE_USER and CLICKHOUSE_PASSWORD')
  expect(failed(62).message).toBe('read: no')
})

test('every other error passes: of load, network, disks, Keeper, replicas and other storage, and what is not known yet', () => {
  const passing = [33, 49, 74, 75, 76, 107, 159, 160, 201, 202, 209, 210, 225, 236, 241, 242, 243, 246, 252, 279, 285]
  const others = [
    286, 289, 319, 341, 364, 394, 425, 473, 499, 517, 668, 735, 745, 749, 762, 777, 900, 999, 1000, 1001, 9999,
  ]
  expect([...passing, ...others].filter((code) => !failed(code).retryable)).toEqual([])
  expect(new QueryError('read', new Error('connect ECONNREFUSED')).retryable).toBe(true)
  expect(failed(246).message).toMatch(/damaged.*restart ClickHouse/)
  expect(new QueryError('read', new Error('')).message).toBe('read: its answer is empty')
})
