import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from '../../../../../jobs/webhooks/dispatch/fair-queue.js'

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
