import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type DayOfRuns,
  doneStretches,
  type Revision,
  undoneStretches,
} from '../../../../clickhouse/jobs/done-slots.js'

const PERIOD = 21_600
const DAY = 86_400
const DAYS = 4
const SLOTS = Array.from({ length: (DAYS * DAY) / PERIOD }, (_, i) => i * PERIOD)

const revisions: fc.Arbitrary<Revision[]> = fc
  .array(fc.record({ kept_time: fc.nat(DAYS * DAY), revision: fc.nat(4) }), { maxLength: 4 })
  .map((changes) => changes.sort((a, b) => a.kept_time - b.kept_time))

const runs: fc.Arbitrary<DayOfRuns[]> = fc.array(
  fc.record({
    day: fc.nat(DAYS - 1),
    revision: fc.nat(4),
    seconds: fc.oneof(fc.constant(null), fc.subarray(SLOTS.slice(0, DAY / PERIOD))),
  }),
  { maxLength: 12 },
)

/** Slot by slot, as the definition says. */
const isDone = (slot: number, all: readonly DayOfRuns[], changes: readonly Revision[]): boolean => {
  const needed = Math.max(0, ...changes.filter(({ kept_time }) => kept_time <= slot).map(({ revision }) => revision))
  return all.some(
    ({ day, revision, seconds }) =>
      Math.floor(slot / DAY) === day && revision >= needed && (seconds === null || seconds.includes(slot % DAY)),
  )
}

const slotsIn = (stretches: readonly { from: number; until: number }[]): number[] =>
  stretches.flatMap(({ from, until }) => {
    const slots: number[] = []
    for (let slot = from + PERIOD; slot <= until; slot += PERIOD) slots.push(slot)
    return slots
  })

test('a slot is in a done stretch exactly if a run of it has the revision that it needs, and stretches lie apart', () => {
  fc.assert(
    fc.property(runs, revisions, (all, changes) => {
      const stretches = doneStretches(all, changes, PERIOD)
      expect(slotsIn(stretches)).toEqual(SLOTS.filter((slot) => isDone(slot, all, changes)))
      for (const [i, { from }] of stretches.entries())
        if (i > 0) expect(from).toBeGreaterThan(stretches[i - 1]?.until ?? Number.NaN)
    }),
  )
})

test('the slots between two times are those of done and of undone stretches, each once', () => {
  fc.assert(
    fc.property(runs, revisions, fc.nat(DAYS * DAY), fc.nat(DAYS * DAY), (all, changes, from_time, to_time) => {
      const done = doneStretches(all, changes, PERIOD)
      const undone = slotsIn(undoneStretches(done, { period_seconds: PERIOD, from_time, to_time }))
      const isAsked = (slot: number) => slot > from_time && slot < to_time
      expect(undone).toEqual(SLOTS.filter((slot) => isAsked(slot) && !isDone(slot, all, changes)))
    }),
  )
})
