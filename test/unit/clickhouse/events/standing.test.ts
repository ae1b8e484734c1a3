import { expect, test } from 'vitest'
import { type AnnouncedEvent, difference } from '../../../../clickhouse/events/standing.js'
import { type FoundEvent, flowAnomalyEvent, retractionOf } from '../../../../clickhouse/events/types.js'

const at = new Date('2026-01-01T00:15:00Z')

const found = (i: number, data: Record<string, unknown> = { figure: i }): FoundEvent => {
  const { id } = flowAnomalyEvent({ from_token: `${i}`, window_start: at } as never)
  return { id, type: 'flow_anomaly.detected', subject: `${i}`, stables: [], occurred_at: at, data }
}
const announced = (event: FoundEvent): AnnouncedEvent => ({ ...event, recorded_at: at })

/** The rows to add when everything announced lies in the searched time. */
const added = (events: FoundEvent[], log: AnnouncedEvent[], retracted: [string, string][] = []) =>
  difference(events, log, new Map(retracted), new Set(log.map(({ id }) => id)))

test('what is found and not announced is announced, in its order, and what stands is left alone', () => {
  expect(added([found(2), found(1)], [])).toEqual([found(2), found(1)])
  expect(added([found(2), found(1)], [announced(found(2))])).toEqual([found(1)])
  expect(added([found(1, { figure: 1, is_new: true })], [announced(found(1))]), 'a field was added').toEqual([])
})

test('what is not found is taken back, once, and only where it was searched', () => {
  const event = announced(found(1))
  const retraction = retractionOf(event, 'not_found')
  expect(added([], [event])).toEqual([retraction])
  expect(added([], [event], [[event.id, retraction.id]])).toEqual([])
  expect(difference([], [event], new Map(), new Set())).toEqual([])
})

test('what is found with other data, or at another time, is taken back and announced under another id', () => {
  const event = announced(found(1))
  const later = { ...found(1), occurred_at: new Date(at.getTime() + 1000) }
  for (const other of [found(1, { figure: 7 }), later]) {
    const [retraction, again, ...rest] = added([other], [event])
    expect([retraction, rest]).toEqual([retractionOf(event, 'changed'), []])
    expect(again).toEqual({ ...other, id: expect.stringMatching(/^evt_[0-9a-f]{32}$/) })
    expect(again?.id).not.toBe(event.id)
    // Whoever was killed before the second one finds the same.
    expect(added([other], [event], [[event.id, retraction?.id ?? '']])).toEqual([again])
    expect(added([other], [event, announced(again as FoundEvent)], [[event.id, retraction?.id ?? '']])).toEqual([])
  }
})

test('what was taken back and is found again after all is announced under an id that no announcement had', () => {
  let log: AnnouncedEvent[] = []
  const retracted: [string, string][] = []
  for (let i = 0; i < 3; i++) {
    const [event] = added([found(1)], log, retracted)
    if (!event) throw new Error('not announced again')
    log = [...log, announced(event)]
    const [retraction] = added([], log, retracted)
    retracted.push([event.id, retraction?.id ?? ''])
  }
  expect(new Set([...log.map(({ id }) => id), ...retracted.map(([, id]) => id)]).size).toBe(6)
})
