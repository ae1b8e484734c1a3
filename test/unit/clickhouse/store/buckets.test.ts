import { expect, test } from 'vitest'
import { bucketPage } from '../../../../clickhouse/store/buckets.js'

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
