import { expect, test } from 'vitest'
import { finishedKnown, isFinal, isSampledFor, type SettledSpan } from '../../../../../api/answers/cache/finality.js'
import { CACHE_POLICIES, freshnessOf } from '../../../../../api/answers/cache/policies.js'

const DAY = 86_400
const { peg, flows, rewards } = CACHE_POLICIES
const REACH = peg.finality.reachSeconds
/** History of the longest window and three weeks, that begins in the middle of the chain. */
const known: SettledSpan = {
  from_block: 1000,
  from_time: 0,
  newest_time: REACH + 23 * DAY,
  is_from_start: false,
  touched_ago: 100_000,
}

test('an answer about the past is final only when all of its data is stored', () => {
  expect(isFinal(peg.finality, known, REACH + 13 * DAY)).toBe(true)
  expect(isFinal(peg.finality, known, REACH + DAY)).toBe(true)
  expect(isFinal(peg.finality, known, REACH - DAY)).toBe(false)
  expect(isFinal(flows.finality, known, DAY + 1)).toBe(true)
  expect(isFinal(flows.finality, known, DAY)).toBe(false)
})

test('an answer made of samples is final only if they begin early enough, or with the stable or with history', () => {
  const begins = (block: number, created = 500) => ({ created, block, time: 10 * DAY })
  expect(isSampledFor(peg.finality, known, begins(2000), REACH + 13 * DAY)).toBe(true)
  expect(isSampledFor(peg.finality, known, begins(2000), REACH + 10 * DAY)).toBe(false)
  expect(isSampledFor(peg.finality, known, null, REACH + 13 * DAY)).toBe(false)
  expect(isSampledFor(peg.finality, known, begins(1001), REACH + 5 * DAY)).toBe(true)
  expect(isSampledFor(peg.finality, known, begins(1002), REACH + 5 * DAY)).toBe(false)
  expect(isSampledFor(peg.finality, known, begins(1501, 1500), REACH + 5 * DAY)).toBe(true)
})

test('an answer about all of history is final only if all of the chain is stored', () => {
  expect(isFinal(rewards.finality, known, 20 * DAY)).toBe(false)
  expect(isFinal(rewards.finality, { ...known, is_from_start: true }, 20 * DAY)).toBe(true)
})

test('the last ten minutes may still be rolled back', () => {
  expect(isFinal(flows.finality, known, known.newest_time - 600)).toBe(true)
  expect(isFinal(flows.finality, known, known.newest_time - 599)).toBe(false)
})

test('nothing is final while a backfill or a rollback is running', () => {
  expect(isFinal(flows.finality, { ...known, touched_ago: 599 }, 20 * DAY)).toBe(false)
  expect(isFinal(flows.finality, { ...known, touched_ago: 600 }, 20 * DAY)).toBe(true)
})

test('only final answers are immutable', () => {
  expect(freshnessOf(peg, 'final').cacheControl).toBe('public, max-age=31536000, immutable')
  for (const finished of ['live', 'moving', 'past'] as const)
    expect(freshnessOf(peg, finished).cacheControl).not.toContain('immutable')
})

test('what was published by an instant is final once nothing of that time can still be on its way', () => {
  const now = new Date('2026-07-01T12:00:00Z')
  const ago = (seconds: number) => finishedKnown(new Date(now.getTime() - seconds * 1000), now)
  expect([ago(600), ago(86_400)]).toEqual(['final', 'final'])
  expect([ago(599), ago(0)]).toEqual(['live', 'live'])
})

test('the newest revision of what a job publishes is never final', () => {
  const { risk, reserves, pegEvents, flowAnomalies } = CACHE_POLICIES
  for (const { finality } of [risk, reserves, pegEvents, flowAnomalies]) expect(finality).toBeNull()
})
