import { expect, test } from 'vitest'
import { MAX_ATTEMPTS, nextAttemptAt } from '../../../../clickhouse/webhooks/schedule.js'

const START = Date.parse('2026-03-01T00:00:00Z')

/** Seconds from the first attempt to each one, when all but the last of `attempts` fail and each takes `tookSeconds`. */
function startsOf(attempts: number, tookSeconds: number): number[] {
  const starts = [0]
  for (let attempt = 1; attempt < attempts; attempt++) {
    const endedAt = new Date(START + ((starts.at(-1) ?? 0) + tookSeconds) * 1000)
    const next = nextAttemptAt({ attempt, endedAt, waitMs: null })
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
  const last = { attempt: 7, endedAt: new Date(START), waitMs: 60_000 }
  expect(nextAttemptAt(last)).toBeNull()
  expect(nextAttemptAt({ ...last, attempt: 8 })).toBeNull()
})

test.each([
  [null, 30],
  [0, 30],
  [29_999, 30],
  [31_000, 31],
  [86_400_000, 86_400],
])('asked to wait %s ms, the second attempt comes after %i s', (waitMs, seconds) => {
  const next = nextAttemptAt({ attempt: 1, endedAt: new Date(START), waitMs })
  expect(((next?.getTime() ?? 0) - START) / 1000).toBe(seconds)
})

test('after the third attempt, a requested wait shorter than the schedule changes nothing', () => {
  const next = nextAttemptAt({ attempt: 3, endedAt: new Date(START), waitMs: 300_000 })
  expect((next?.getTime() ?? 0) - START).toBe(600_000)
})
