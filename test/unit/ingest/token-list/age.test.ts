import { expect, test } from 'vitest'
import { listAge } from '../../../../ingest/token-list/age.js'

const now = new Date('2026-11-28T12:00:00Z')

test('a list is old after 30 days', () => {
  expect(listAge(new Date('2026-11-28T00:00:00Z'), now)).toEqual({ days: 0, isOld: false })
  expect(listAge(new Date('2026-10-29T12:00:00Z'), now)).toEqual({ days: 30, isOld: false })
  expect(listAge(new Date('2026-10-28T12:00:00Z'), now)).toEqual({ days: 31, isOld: true })
})

test('a list from the future is new', () => {
  expect(listAge(new Date('2027-01-01T00:00:00Z'), now)).toEqual({ days: 0, isOld: false })
})
