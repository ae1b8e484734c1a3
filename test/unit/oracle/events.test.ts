import { expect, test } from 'vitest'
import { type OracleEvent, withLaterFields } from '../../../oracle/events.js'
import { differences } from '../../../tools/verify/answers/differences.js'

const started = (later: Record<string, unknown> = {}): OracleEvent => ({
  event: 'peg_break.started',
  occurred_at: '2026-07-01T00:05:00Z',
  data: { stable: '0x1', severity: 'mild', started_at: '2026-07-01T00:00:00Z', ...later },
})

test('an event from before a field was recorded is no mismatch, one with another value is', () => {
  const expected = [started({ direction: 'below', standing_tokens: 1000, thin: true })]
  const found = (event: OracleEvent) => differences(withLaterFields([event], expected), expected)
  expect(differences([started()], expected)).not.toEqual([])
  expect(found(started())).toEqual([])
  expect(found(started({ direction: 'below' }))).toEqual([])
  expect(found(started({ direction: 'above' }))).not.toEqual([])
  expect(found(started({ direction: 'below', standing_tokens: 0, thin: true }))).not.toEqual([])
})
