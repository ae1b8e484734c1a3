import { expect, test } from 'vitest'
import { MAX_ATTEMPTS, nextAttemptAt, retryAfterMs } from '../../../../clickhouse/webhooks/schedule.js'

const START = Date.parse('2026-03-01T00:00:00Z')
const HTTP_DATE = 'Sun, 01 Mar 2026 00:05:00 GMT'

/** Seconds from the first attempt to each one, when all but the last of `attempts` fail and each takes `tookSeconds`. */
function startsOf(attempts: number, tookSeconds: number): number[] {
  const starts = [0]
  for (let attempt = 1; attempt < attempts; attempt++) {
    const endedAt = new Date(START + ((starts.at(-1) ?? 0) + tookSeconds) * 1000)
    const next = nextAttemptAt({ attempt, endedAt, retryAfter: null })
    if (next) starts.push((next.getTime() - START) / 1000)
  }
  return starts
}

// Written by hand: 30 s, 2 min, 10 min, 1 h, 6 h, 24 h, each from the end of the previous attempt.
const AT_ONCE = [0, 30, 150, 750, 4350, 25_950, 112_350]
const AFTER_TIMEOUTS = [0, 40, 170, 780, 4390, 26_000, 112_410]

test.each([1, 2, 3, 4, 5, 6, 7])(
  'a delivery that succeeds on attempt %i follows the schedule to the second',
  (attempts) => {
    expect(startsOf(attempts, 0)).toEqual(AT_ONCE.slice(0, attempts))
    expect(startsOf(attempts, 10)).toEqual(AFTER_TIMEOUTS.slice(0, attempts))
  },
)

test('a delivery that never succeeds has seven attempts, and never an eighth', () => {
  expect(startsOf(100, 0)).toEqual(AT_ONCE)
  expect(startsOf(100, 10)).toEqual(AFTER_TIMEOUTS)
  expect(MAX_ATTEMPTS).toBe(7)
  const last = { attempt: 7, endedAt: new Date(START), retryAfter: '60' }
  expect(nextAttemptAt(last)).toBeNull()
  expect(nextAttemptAt({ ...last, attempt: 8 })).toBeNull()
})

test.each([
  ['120', 120],
  [' 31 ', 31],
  ['29', 30],
  ['0', 30],
  ['86400', 86_400],
  ['86401', 86_400],
  ['999999999999', 86_400],
  [HTTP_DATE, 300],
  ['Sun, 01 Mar 2026 00:00:10 GMT', 30],
  ['Sat, 28 Feb 2026 23:00:00 GMT', 30],
  ['Mon, 01 Mar 2027 00:00:00 GMT', 86_400],
  ['-5', 30],
  ['1.5', 30],
  ['soon', 30],
  ['2026-03-01T00:05:00Z', 30],
  ['Sun, 99 Mar 2026 00:05:00 GMT', 30],
  ['', 30],
  [null, 30],
])('Retry-After %s: the second attempt comes after %i s', (retryAfter, seconds) => {
  const next = nextAttemptAt({ attempt: 1, endedAt: new Date(START), retryAfter })
  expect(((next?.getTime() ?? 0) - START) / 1000).toBe(seconds)
})

test('after the third attempt, a Retry-After shorter than the schedule changes nothing', () => {
  const next = nextAttemptAt({ attempt: 3, endedAt: new Date(START), retryAfter: HTTP_DATE })
  expect((next?.getTime() ?? 0) - START).toBe(600_000)
  expect(retryAfterMs(HTTP_DATE, new Date(START))).toBe(300_000)
})
