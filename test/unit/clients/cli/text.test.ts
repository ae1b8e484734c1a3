import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UsageError } from '../../../../clients/cli/src/arguments.js'
import { failureLine } from '../../../../clients/cli/src/failures.js'
import {
  cut,
  duration,
  printable,
  printableJson,
  sampleTime,
  shownDeviation,
  shownSymbol,
  table,
  tokens,
  widthOf,
} from '../../../../clients/cli/src/text.js'
import {
  ConnectionError,
  PaymentRequiredError,
  TooManyRequestsError,
  UnavailableError,
} from '../../../../clients/typescript/src/errors.js'

const HOSTILE = 'A\u001b]0;owned\u0007\u001b[2J\r\n\u202eB\u009b31m\u2028\u200b\ud800'

test('what a stranger wrote cannot move the cursor, end a line or turn the direction', () => {
  expect(printable(HOSTILE)).toBe(
    'A\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{d}\\u{a}\\u{202e}B\\u{9b}31m\\u{2028}\\u{200b}\\u{d800}',
  )
  expect(printable('Ärger ₮ 円 é')).toBe('Ärger ₮ 円 é')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      expect(JSON.parse(printableJson({ [text]: text }))).toEqual({ [text]: text })
      expect(printableJson({ text })).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
    }),
  )
})

test('a symbol of marks or wide letters does not break a table', () => {
  expect(widthOf('円é')).toBe(3)
  expect(cut('ABCDEF', 4)).toBe('ABC…')
  expect(shownSymbol(`A${'\u0301'.repeat(60)}`).length).toBeLessThanOrEqual(17)
  expect(
    table(
      [
        ['円', '1'],
        ['ab', '22'],
      ],
      [1],
    ),
  ).toEqual(['円   1', 'ab  22'])
})

test('amounts have all of their digits', () => {
  expect(tokens('0')).toBe('0')
  expect(tokens('1')).toBe('0.000001')
  expect(tokens('1234567500000')).toBe('1,234,567.5')
  expect(tokens('-1000000')).toBe('-1')
  expect(tokens('340282366920938463463374607431768211455')).toBe('340,282,366,920,938,463,463,374,607,431,768.211455')
})

test('durations, deviations and times', () => {
  expect([0, 59, 60, 3700, 90_061].map(duration)).toEqual(['0s', '59s', '1m', '1h 1m', '1d 1h'])
  expect([
    shownDeviation(0.9985, 15),
    shownDeviation(1.003, 30),
    shownDeviation(1, 0),
    shownDeviation(null, null),
  ]).toEqual(['-15.00', '+30.00', '0.00', '-'])
  expect(sampleTime('2026-07-01 12:00:00+00')).toBe('2026-07-01T12:00:00Z')
})

test('a failure is one line that says what to do', () => {
  const failure = (status: number, headers = {}, problem = {}) => ({
    url: 'http://x/?k=1',
    status,
    headers: new Headers(headers),
    body: '',
    problem,
  })
  const shown = [
    new UsageError('no\nsuch'),
    new PaymentRequiredError(failure(402, {}, { price: '0.05' })),
    new TooManyRequestsError(failure(429, { 'retry-after': '90' })),
    new UnavailableError(failure(503, { 'retry-after': '5' }, { detail: 'it \u001b[2J starts' })),
    new ConnectionError('cannot be reached', {
      url: 'http://x/?k=1',
      cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
    }),
  ].map(failureLine)
  expect(shown).toEqual([
    'plumbline: no\\u{a}such; see plumbline --help',
    'plumbline: 402: this answer costs 0.05; a subscription key in PLUMBLINE_KEY makes it free',
    'plumbline: 429: too many requests; try again in 1m 30s',
    'plumbline: 503: the service is not available; try again in 5s: it \\u{1b}[2J starts',
    'plumbline: http://x: cannot be reached (ECONNREFUSED)',
  ])
})
