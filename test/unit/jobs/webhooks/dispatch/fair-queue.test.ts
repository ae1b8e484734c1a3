import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  FairQueue,
  type FairQueueOptions,
  Heap,
  type LineMode,
  type Pending,
} from '../../../../../jobs/webhooks/dispatch/fair-queue.js'

const CONTENT = { event_type: 'peg_break.started', event_id: 'evt_1', data: '{}', published_at: new Date(0) }

let made = 0
const pending = (subscription_id: string, changes: Partial<Pending> = {}): Pending => ({
  delivery_id: ++made,
  subscription_id,
  attempt: 1,
  dueMs: 0,
  incidents: [],
  content: CONTENT,
  ...changes,
})

const queueOf = (options: Partial<FairQueueOptions> = {}): FairQueue =>
  new FairQueue({ maxInFlight: 1000, limitOf: () => 4, prepared: () => 8, modeOf: () => 'send', ...options })

const taken = (queue: FairQueue, nowMs: number, most?: number): Pending[] =>
  queue.take(nowMs, most).map(({ pending }) => pending)

const countsOf = (items: readonly Pending[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { subscription_id } of items) counts[subscription_id] = (counts[subscription_id] ?? 0) + 1
  return counts
}

test('no delivery is taken before it is due, and the one due first is taken first', () => {
  const queue = queueOf()
  for (const dueMs of [500, 200, 300, 200]) queue.add(pending('a', { dueMs }), 100)
  const ready = (at: number): number[] => {
    queue.take(at)
    const missing = queue.missing(10)
    for (const one of missing) one.content = CONTENT
    queue.filled(missing)
    return taken(queue, at).map(({ dueMs }) => dueMs)
  }
  expect(ready(199)).toEqual([])
  expect(ready(200)).toEqual([200, 200])
  expect(ready(499)).toEqual([300])
  expect(ready(500)).toEqual([500])
  expect(queue.size).toEqual({ later: 0, due: 0, inFlight: 4 })
})

test('subscriptions are served in turn, however long their lines are', () => {
  const queue = queueOf({ limitOf: () => 100, prepared: () => 100 })
  for (let i = 0; i < 90; i++) queue.add(pending('many'), 0)
  for (let i = 0; i < 3; i++) for (const id of ['b', 'c']) queue.add(pending(id), 0)
  expect(taken(queue, 0, 9).map(({ subscription_id }) => subscription_id)).toEqual([
    'many',
    'b',
    'c',
    'many',
    'b',
    'c',
    'many',
    'b',
    'c',
  ])
})

test('a receiver that never answers uses up its own limit only, and no other receiver waits', () => {
  const queue = queueOf()
  for (let i = 0; i < 100; i++) queue.add(pending('dead', { content: i < 8 ? CONTENT : null }), 0)
  expect(taken(queue, 0)).toHaveLength(4)
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 3; i++) queue.add(pending('well'), 0)
    const round = taken(queue, 0)
    expect(countsOf(round)).toEqual({ well: 3 })
    for (const one of round) queue.done(one)
  }
})

test('with more subscriptions than the total limit, each gets its share, even those that come last', () => {
  const queue = queueOf({ maxInFlight: 40, limitOf: () => 32, prepared: () => 64 })
  for (let i = 0; i < 64; i++) queue.add(pending('first'), 0)
  const first = taken(queue, 0)
  expect(first).toHaveLength(32)
  for (let line = 0; line < 9; line++) for (let i = 0; i < 64; i++) queue.add(pending(`line ${line}`), 0)
  expect(Object.values(countsOf(taken(queue, 0)))).toEqual(Array(8).fill(1))
  for (const one of first) queue.done(one)
  const counts = countsOf(taken(queue, 0))
  expect(counts.first).toBeLessThanOrEqual(4)
  expect(Object.keys(counts)).toHaveLength(10)
})

test('contents that are needed soon are requested once, and the others are not kept', () => {
  const queue = queueOf()
  for (let i = 0; i < 20; i++) queue.add(pending('a', { content: null }), 0)
  queue.add(pending('b', { dueMs: 50 }), 0)
  expect(taken(queue, 0)).toEqual([])
  const missing = queue.missing(100)
  expect(missing).toHaveLength(8)
  expect(queue.missing(100)).toEqual([])
  for (const one of missing) one.content = CONTENT
  queue.filled(missing)
  expect(taken(queue, 0)).toEqual(missing.slice(0, 4))
  const more = queue.missing(100)
  expect(more).toHaveLength(4)
  expect(missing).not.toContain(more[0])
  queue.take(50)
  expect(queue.missing(100).map(({ subscription_id }) => subscription_id)).toEqual(['b'])
})

test('if many contents are missing, they are requested for every subscription, not only for the first ones', () => {
  const queue = queueOf({ prepared: () => 100 })
  for (const id of ['a', 'b', 'c', 'd']) for (let i = 0; i < 50; i++) queue.add(pending(id, { content: null }), 0)
  expect(countsOf(queue.missing(40))).toEqual({ a: 10, b: 10, c: 10, d: 10 })
})

test('a line waits, or is canceled without loading contents, according to the current mode of its subscription', () => {
  const modes: Record<string, LineMode> = { a: 'wait', b: 'send' }
  const queue = queueOf({ modeOf: (id) => modes[id] as LineMode })
  for (const id of ['a', 'b']) queue.add(pending(id, { content: null }), 0)
  expect(queue.take(0)).toEqual([])
  expect(queue.missing(100)).toHaveLength(1)
  modes.a = 'cancel'
  modes.b = 'cancel'
  queue.refreshModes()
  expect(queue.take(0).map(({ mode }) => mode)).toEqual(['cancel', 'cancel'])
})

test('a delivery that is put back is taken before those that waited behind it', () => {
  const queue = queueOf({ limitOf: () => 2 })
  const waiting = [pending('a'), pending('a'), pending('a'), pending('a', { content: null })]
  for (const one of waiting) queue.add(one, 0)
  for (const one of taken(queue, 0).reverse()) {
    queue.done(one)
    queue.putBack(one)
  }
  expect(queue.size).toEqual({ later: 0, due: 4, inFlight: 0 })
  expect(queue.missing(10)).toEqual([waiting[3]])
  expect(taken(queue, 0)).toEqual(waiting.slice(0, 2))
})

describe('with random work', () => {
  test('every delivery is taken once, in the order of its line, and no limit is exceeded', () => {
    const step = fc.record({
      adds: fc.array(fc.record({ line: fc.nat(6), inMs: fc.nat(300), hasContent: fc.boolean() }), { maxLength: 30 }),
      ends: fc.nat(20),
      passes: fc.nat(200),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (steps, maxInFlight) => {
        const queue = queueOf({ maxInFlight, limitOf: () => 3, prepared: () => 4 })
        const out: Pending[] = []
        const seen = new Set<number>()
        let added = 0
        let now = 0
        const work = (): void => {
          const missing = queue.missing(5)
          for (const one of missing) one.content = CONTENT
          queue.filled(missing)
          for (const one of taken(queue, now)) {
            expect(one.dueMs).toBeLessThanOrEqual(now)
            expect(one.content).not.toBeNull()
            expect(seen.has(one.delivery_id)).toBe(false)
            seen.add(one.delivery_id)
            out.push(one)
          }
          expect(out.length).toBeLessThanOrEqual(maxInFlight)
          for (const count of Object.values(countsOf(out))) expect(count).toBeLessThanOrEqual(3)
        }
        const end = (count: number): void => {
          for (const one of out.splice(0, count)) queue.done(one)
        }
        for (const { adds, ends, passes } of steps) {
          for (const { line, inMs, hasContent } of adds) {
            queue.add(pending(`${line}`, { dueMs: now + inMs, content: hasContent ? CONTENT : null }), now)
            added++
          }
          work()
          end(ends)
          now += passes
        }
        now += 1000
        for (let i = 0; seen.size < added && i < 10 * added; i++) {
          work()
          end(out.length)
        }
        expect(seen.size).toBe(added)
        end(out.length)
        expect(queue.size).toEqual({ later: 0, due: 0, inFlight: 0 })
        expect(queue.smallestId()).toBe(Number.POSITIVE_INFINITY)
      }),
    )
  })
})

test('a heap returns every added item, smallest first, even if adding and taking alternate', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer(), fc.constant(null)), { maxLength: 200 }), (steps) => {
      const heap = new Heap<number>((item) => item)
      let model: number[] = []
      for (const step of steps) {
        if (step !== null) {
          heap.add(step)
          model = [...model, step].sort((a, b) => a - b)
        } else expect(heap.take()).toBe(model.shift())
        expect(heap.first).toBe(model[0])
        expect(heap.size).toBe(model.length)
      }
      expect([...heap].sort((a, b) => a - b)).toEqual(model)
    }),
  )
})
