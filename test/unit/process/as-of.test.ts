import { describe, expect, test } from 'vitest'
import { BadParameterError } from '../../../process/errors.js'
import { isoSeconds, parseAsOf } from '../../../process/instants.js'

const now = new Date('2026-07-15T10:20:30.400Z')
const parsed = (text: string): string => isoSeconds(parseAsOf(text, now))

describe('as_of', () => {
  test.each([
    ['2026-07-01T12:34:56Z', '2026-07-01T12:34:56Z'],
    ['2026-07-01t12:34:56z', '2026-07-01T12:34:56Z'],
    ['2026-07-01T12:34:56.999Z', '2026-07-01T12:34:56Z'],
    ['2026-07-01T12:34Z', '2026-07-01T12:34:00Z'],
    ['2026-07-01T12:34:56', '2026-07-01T12:34:56Z'],
    ['2026-07-01T12:34:56+02:00', '2026-07-01T10:34:56Z'],
    ['2026-07-01T12:34:56-05:30', '2026-07-01T18:04:56Z'],
    ['2026-07-01T12:34:56 02:00', '2026-07-01T10:34:56Z'],
    // As `sampled_at` is returned, also with a `+` that was not percent-encoded.
    ['2026-07-01 12:34:56+00', '2026-07-01T12:34:56Z'],
    ['2026-07-01 12:34:56 00', '2026-07-01T12:34:56Z'],
    ['2026-07-01 12:34:56.999-0530', '2026-07-01T18:04:56Z'],
    ['2026-07-01', '2026-07-01T00:00:00Z'],
    ['2024-02-29', '2024-02-29T00:00:00Z'],
    ['1782907200', '2026-07-01T12:00:00Z'],
    ['0', '1970-01-01T00:00:00Z'],
    ['1960-01-01', '1960-01-01T00:00:00Z'],
    ['1h', '2026-07-15T09:20:30Z'],
    ['90m', '2026-07-15T08:50:30Z'],
    ['24h', '2026-07-14T10:20:30Z'],
    ['7d', '2026-07-08T10:20:30Z'],
    ['525600m', '2025-07-15T10:20:30Z'],
    ['999999d', '-000712-08-18T10:20:30Z'],
    ['0m', '2026-07-15T10:20:30Z'],
    ['1784110830', '2026-07-15T10:20:30Z'],
  ])('%s is %s', (text, expected) => {
    expect(parsed(text)).toBe(expected)
  })

  test.each([
    'tomorrow',
    '',
    ' ',
    'now',
    '-1h',
    '1.5h',
    '1w',
    '1H',
    'h',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-07-01T24:00:00Z',
    '2026-07-01T12:60:00Z',
    '2026-07-01T12:34:60Z',
    '2026-07-01T12',
    '2026-07-01Z',
    '2026-7-1',
    '1784110830000',
    '1000000d',
    '2026-07-01T12:34:56+25:00',
    '2026-07-01T12:34:56Z; DROP TABLE blocks',
    '-5',
    '1e9',
    '0x10',
    '99999999999999999999',
    '２０２６-07-01',
  ])('%j is refused, naming the parameter', (text) => {
    expect(() => parseAsOf(text, now)).toThrow(BadParameterError)
    expect(() => parseAsOf(text, now)).toThrow(expect.objectContaining({ parameter: 'as_of' }))
  })

  test.each(['2026-07-15T10:20:31Z', '2027-01-01', '1784110831', '9999-12-31'])(
    '%s is refused because it lies in the future',
    (text) => {
      expect(() => parseAsOf(text, now)).toThrow('future')
    },
  )
})
