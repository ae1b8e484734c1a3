import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wholeWindows } from '../../../../clickhouse/flows/flows.js'

const Time = fc.integer({ min: 0, max: 4000 })

test('the windows that lie whole in a range, and the seconds at both ends, are the range without a gap or an overlap', () => {
  fc.assert(
    fc.property(Time, Time, (from, length) => {
      const to = from + length
      const { whole_from, whole_to } = wholeWindows(from, to)
      expect([from, whole_from, whole_to, to]).toEqual([from, whole_from, whole_to, to].toSorted((a, b) => a - b))
      const starts = Array.from({ length: 10 }, (_, i) => i * 900)
      expect(starts.filter((start) => start >= whole_from && start < whole_to)).toEqual(
        starts.filter((start) => start >= from && start + 900 <= to),
      )
    }),
  )
})
