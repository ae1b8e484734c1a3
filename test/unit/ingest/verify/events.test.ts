import { expect, test } from 'vitest'
import { differences } from '../../../../ingest/verify/answers/differences.js'
import { type OracleEvent, withDirections } from '../../../../ingest/verify/definitions/events.js'

const started = (direction?: string): OracleEvent => ({
  event: 'peg_break.started',
  occurred_at: '2026-07-01T00:05:00Z',
  data: { stable: '0x1', severity: 'mild', started_at: '2026-07-01T00:00:00Z', ...(direction && { direction }) },
})

test('an event from before directions were recorded is no mismatch, one with another direction is', () => {
  const expected = [started('below')]
  expect(differences([started()], expected)).not.toEqual([])
  expect(differences(withDirections([started()], expected), expected)).toEqual([])
  expect(differences(withDirections([started('above')], expected), expected)).not.toEqual([])
})
