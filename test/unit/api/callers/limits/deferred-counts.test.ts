import { expect, test, vi } from 'vitest'
import { createDeferredCounts } from '../../../../../api/callers/limits/counts.js'

const LIMIT = 320

/** The shared count, and how often it was requested. */
function together() {
  const counts = { total: 0, asked: 0 }
  const consume = async (_: string, points: number) => {
    counts.asked += 1
    counts.total += points
    return { consumed: counts.total, resetMs: 60_000 }
  }
  return { counts, consume }
}

test('far below the limit requests are counted locally, and reported in one exchange', async () => {
  vi.useFakeTimers()
  const { counts, consume } = together()
  const counter = createDeferredCounts(consume, () => 0)
  expect(counter.countNow('asker', LIMIT)).toBe(null)
  expect(await counter.count('asker', 1)).toEqual({ consumed: 1, resetMs: 60_000 })
  for (let i = 2; i <= 11; i++) expect(counter.countNow('asker', LIMIT)?.consumed).toBe(i)
  // A thirty-second of the limit is counted locally at most.
  expect(counter.countNow('asker', LIMIT)).toBe(null)
  expect(counts).toEqual({ total: 1, asked: 1 })
  await vi.advanceTimersByTimeAsync(20)
  expect(counts).toEqual({ total: 11, asked: 2 })
  expect(counter.countNow('asker', LIMIT)?.consumed).toBe(12)
  vi.useRealTimers()
})

test('a local count is reported once, with the next request that is counted at once', async () => {
  vi.useFakeTimers()
  const { counts, consume } = together()
  const counter = createDeferredCounts(consume, () => 0)
  await counter.count('asker', 1)
  for (let i = 0; i < 4; i++) counter.countNow('asker', LIMIT)
  expect((await counter.count('asker', 2)).consumed).toBe(7)
  await vi.advanceTimersByTimeAsync(1000)
  expect(counts).toEqual({ total: 7, asked: 2 })
  vi.useRealTimers()
})

test('close to the limit, in a new window and for limits below 32, every request uses the shared count', async () => {
  vi.useFakeTimers()
  let now = 0
  const { consume } = together()
  const counter = createDeferredCounts(consume, () => now)
  await counter.count('asker', LIMIT / 2 - 1)
  expect(counter.countNow('asker', 31)).toBe(null)
  expect(counter.countNow('asker', LIMIT)?.consumed).toBe(LIMIT / 2)
  await counter.count('asker', 1)
  expect(counter.countNow('asker', LIMIT)).toBe(null)
  expect(counter.countNow('asker', 10 * LIMIT)).not.toBe(null)
  now = 60_000
  expect(counter.countNow('asker', 10 * LIMIT)).toBe(null)
  vi.useRealTimers()
})

test('sixteen processes that each count the most locally stay below the limit', async () => {
  vi.useFakeTimers()
  const { counts, consume } = together()
  const processes = Array.from({ length: 16 }, () => createDeferredCounts(consume, () => 0))
  for (const process of processes) await process.count('asker', 1)
  let passed = 16
  for (let i = 0; i < 1000; i++) for (const process of processes) if (process.countNow('asker', LIMIT)) passed += 1
  expect(passed).toBe(16 + 16 * 10)
  await vi.advanceTimersByTimeAsync(20)
  expect(counts.total).toBe(passed)
  expect(passed).toBeLessThanOrEqual(LIMIT)
  vi.useRealTimers()
})

test('no count is lost when callers with expired windows are removed', async () => {
  vi.useFakeTimers()
  let now = 0
  const totals = new Map<string, number>()
  const consume = async (asker: string, points: number) => {
    totals.set(asker, (totals.get(asker) ?? 0) + points)
    return { consumed: totals.get(asker) as number, resetMs: 1000 }
  }
  const counter = createDeferredCounts(consume, () => now)
  await counter.count('one', 1)
  expect(counter.countNow('one', LIMIT)).not.toBe(null)
  for (let i = 0; i < 5000; i++) {
    await counter.count(`asker ${i}`, 1)
    now += 1
  }
  await vi.advanceTimersByTimeAsync(20)
  expect(totals.get('one')).toBe(2)
  expect(counter.countNow('asker 0', LIMIT)).toBe(null)
  expect(counter.countNow('asker 4999', LIMIT)).toEqual({ consumed: 2, resetMs: 999 })
  vi.useRealTimers()
})
