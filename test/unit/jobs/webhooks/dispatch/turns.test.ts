import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Pending } from '../../../../../jobs/webhooks/dispatch/fair-queue.js'
import { Turns } from '../../../../../jobs/webhooks/dispatch/turns.js'

const delivery = (delivery_id: number, subscription_id: string, incidents: readonly string[]): Pending => ({
  delivery_id,
  subscription_id,
  attempt: 1,
  dueMs: 0,
  incidents,
  content: null,
})

test('a delivery about several incidents waits for the earlier ones about each, and those after it wait for it', () => {
  const turns = new Turns()
  const [a, b, digest, later] = [['a'], ['b'], ['a', 'b'], ['b']].map((about, i) => delivery(i, 'wh_1', about)) as [
    Pending,
    Pending,
    Pending,
    Pending,
  ]
  expect([a, b, digest, later].map((one) => turns.begin(one))).toEqual([true, true, false, false])
  expect(turns.waiting).toBe(2)
  expect(turns.end({ ...b, attempt: 7 })).toEqual([])
  expect(turns.end(a)).toEqual([digest])
  expect(turns.end(digest)).toEqual([later])
  expect(turns.end(later)).toEqual([])
  expect(turns.waiting).toBe(0)
})

test('neither another incident nor another subscription nor one without an incident waits', () => {
  const turns = new Turns()
  expect(turns.begin(delivery(1, 'wh_1', ['a']))).toBe(true)
  expect(turns.begin(delivery(2, 'wh_1', ['b']))).toBe(true)
  expect(turns.begin(delivery(3, 'wh_2', ['a']))).toBe(true)
  for (const id of [4, 5]) expect(turns.begin(delivery(id, 'wh_1', []))).toBe(true)
})

test('with random work, every delivery has its turn once, after all earlier ones about the same', () => {
  const about = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(about, fc.nat(3)), { maxLength: 60 }),
      fc.infiniteStream(fc.nat(1000)),
      (all, picks) => {
        const turns = new Turns()
        const ready: Pending[] = []
        const over: Pending[] = []
        const endOne = (): void => {
          const [one] = ready.splice((picks.next().value ?? 0) % ready.length, 1) as [Pending]
          over.push(one)
          ready.push(...turns.end(one))
        }
        for (const [i, [incidents, ends]] of all.entries()) {
          const one = delivery(i, 'wh_1', incidents)
          if (turns.begin(one)) ready.push(one)
          for (let n = 0; n < ends && ready.length > 0; n++) endOne()
        }
        while (ready.length > 0) endOne()
        expect(over).toHaveLength(all.length)
        expect(turns.waiting).toBe(0)
        for (const incident of ['a', 'b', 'c', 'd']) {
          const ids = over.filter(({ incidents }) => incidents.includes(incident)).map(({ delivery_id }) => delivery_id)
          expect(ids).toEqual(ids.toSorted((x, y) => x - y))
        }
      },
    ),
  )
})
