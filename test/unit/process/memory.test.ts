import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import * as memory from '../../../process/memory.js'
import { Memories } from '../../../process/memory.js'

const DESCRIPTION = { name: 'a', holds: 'numbers', until: 'always' }

test('a memory can only be made where it is listed', () => {
  // @ts-expect-error: only its type is exported.
  expect(memory.Latest).toBeUndefined()
  // @ts-expect-error: only its type is exported.
  expect(memory.Entries).toBeUndefined()
  const part = new Memories()
  const memories = new Memories([part])
  const made = [memories.entries({ ...DESCRIPTION, max: 1 }), part.latest({ ...DESCRIPTION, read: async () => ({}) })]
  expect(memories.all()).toEqual(made)
})

test('entries are bounded, counted and forgotten', () => {
  const entries = new Memories().entries<string, string>({
    ...DESCRIPTION,
    maxBytes: 10,
    bytesOf: ({ length }) => length,
  })
  for (const text of ['first', 'other', 'third']) entries.set(text, text)
  expect([entries.get('first'), entries.get('other'), entries.get('third', () => false)]).toEqual([
    undefined,
    'other',
    undefined,
  ])
  expect([entries.size, entries.limit, entries.unit, entries.lookups]).toEqual([10, 10, 'bytes', { hit: 1, miss: 2 }])
  entries.forget()
  expect([entries.size, entries.get('other')]).toEqual([0, undefined])
})

test('an entry is read once for all callers, kept for its time, and not at all if that failed or all was forgotten', async () => {
  const entries = new Memories().entries<string, { n: number }>({
    ...DESCRIPTION,
    max: 5,
    ttlMs: ({ n }) => (n === 1 ? 10 : 0),
  })
  let n = 0
  const read = vi.fn(async () => {
    await sleep(1)
    return { n: ++n }
  })
  const ask = () => entries.read('key', read)
  read.mockRejectedValueOnce(new Error('away'))
  await expect(ask()).rejects.toThrow('away')
  expect(await Promise.all([ask(), ask()])).toEqual([{ n: 1 }, { n: 1 }])
  await sleep(20)
  expect(await ask()).toEqual({ n: 2 })
  const again = [ask()]
  entries.forget()
  again.push(ask())
  entries.forget()
  expect(await Promise.all(again)).toEqual([{ n: 2 }, { n: 3 }])
  expect(entries.size).toBe(0)
})

/** A latest value that counts its reads, and what is read when. */
function counting(options: { isSettled?: (hasBefore: boolean) => Promise<boolean> } = {}) {
  const state = { n: 0, clock: 0 }
  const read = vi.fn(async (before: { n: number } | null): Promise<{ n: number } | null> => {
    await sleep(1)
    return { n: (before?.n ?? 0) + ++state.n }
  })
  const latest = new Memories().latest({ ...DESCRIPTION, read, nowMs: () => state.clock, ...options })
  return { state, read, latest }
}

test('a value is read once for all callers, from the one before on, while it is not valid', async () => {
  const { state, read, latest } = counting()
  const ask = () => latest.get((_, ageMs) => ageMs < 10)
  read.mockRejectedValueOnce(new Error('away'))
  await expect(ask()).rejects.toThrow('away')
  expect([latest.value, latest.ageMs, latest.size]).toEqual([null, Number.POSITIVE_INFINITY, 0])
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill({ n: 1 }))
  state.clock = 9
  expect(await ask()).toEqual({ n: 1 })
  state.clock = 10
  expect(await ask()).toEqual({ n: 3 })
  expect([read.mock.calls.length, latest.size, latest.lookups]).toEqual([3, 1, { hit: 1, miss: 5 }])
})

test('a value that no longer holds is read again from nothing', async () => {
  const { read, latest } = counting()
  await latest.read()
  read.mockResolvedValueOnce(null)
  expect(await latest.read()).toEqual({ n: 2 })
  expect(read.mock.lastCall).toEqual([null])
})

test('what was being read when the value was forgotten, or changed, is read again', async () => {
  const { latest } = counting()
  for (const change of ['forget', 'expire'] as const) {
    const before = latest.value
    const reading = latest.read()
    latest[change]()
    expect(latest.value).toBe(change === 'forget' ? null : before)
    expect((await reading).n).toBeGreaterThan((before?.n ?? 0) + 1)
    expect(latest.value).toEqual(await reading)
  }
})

test('a value that is not settled is not kept while there is one before, and not waited for twice', async () => {
  const settling: Array<(isSettled: boolean) => void> = []
  const { latest } = counting({ isSettled: () => new Promise((resolve) => settling.push(resolve)) })
  const first = latest.read()
  await vi.waitFor(() => expect(settling).toHaveLength(1))
  settling[0]?.(true)
  expect(await first).toEqual({ n: 1 })
  const unsettled = latest.read()
  await vi.waitFor(() => expect(settling).toHaveLength(2))
  settling[1]?.(false)
  expect([await unsettled, latest.value]).toEqual([{ n: 1 }, { n: 1 }])
  const late = latest.read()
  await vi.waitFor(() => expect(settling).toHaveLength(3))
  // After two seconds its caller gets the one before, and so does the next at once.
  expect([await late, await latest.read(), settling.length]).toEqual([{ n: 1 }, { n: 1 }, 3])
  settling[2]?.(true)
  await vi.waitFor(() => expect(latest.value).not.toEqual({ n: 1 }))
})

test('a value that has changed is settled again, also while an older one still waits', async () => {
  const settling: Array<(isSettled: boolean) => void> = []
  const { latest } = counting({ isSettled: () => new Promise((resolve) => settling.push(resolve)) })
  const first = latest.read()
  await vi.waitFor(() => expect(settling).toHaveLength(1))
  settling[0]?.(true)
  await first
  const outdated = latest.read()
  await vi.waitFor(() => expect(settling).toHaveLength(2))
  latest.expire()
  const changed = latest.read()
  await vi.waitFor(() => expect(settling).toHaveLength(3))
  settling[2]?.(true)
  expect(await changed).toBe(latest.value)
  settling[1]?.(true)
  await outdated
  expect(latest.value).toBe(await changed)
})

test('a read that makes its own value too old does not wait for itself', async () => {
  const { read, latest } = counting()
  read.mockImplementationOnce(async () => {
    latest.expire()
    return { n: 0 }
  })
  expect(await latest.read()).toEqual({ n: 1 })
})
