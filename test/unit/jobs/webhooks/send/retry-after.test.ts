import { expect, test } from 'vitest'
import { bodyRetryAfterMs, retryAfterMs } from '../../../../../jobs/webhooks/send/retry-after.js'

const NOW = new Date('2026-03-01T00:00:00Z')
const DAY_MS = 86_400_000

test.each([
  ['120', 120_000],
  [' 31 ', 31_000],
  ['0', 0],
  ['0.35', 350],
  ['1.', 1000],
  ['.5', 500],
  ['86400', DAY_MS],
  ['86401', DAY_MS],
  ['999999999999', DAY_MS],
  ['Sun, 01 Mar 2026 00:05:00 GMT', 300_000],
  ['Sunday, 01-Mar-26 00:05:00 GMT', 300_000],
  ['Sun Mar  1 00:05:00 2026', 300_000],
  ['Sat, 28 Feb 2026 23:00:00 GMT', 0],
  ['Mon, 01 Mar 2027 00:00:00 GMT', DAY_MS],
  ['-5', null],
  ['1e3', null],
  ['soon', null],
  ['2026-03-01T00:05:00Z', null],
  ['Sun, 99 Mar 2026 00:05:00 GMT', null],
  ['', null],
  [null, null],
])('Retry-After %s asks to wait %s ms', (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms)
})

test.each([
  ['{"ok":false,"error_code":429,"parameters":{"retry_after":35}}', 35_000],
  ['{"message":"You are being rate limited.","retry_after":0.35,"global":false}', 350],
  ['{"retry_after":"1.5"}', 1500],
  ['{"retry_after":-1}', 0],
  ['{"retry_after":1e12}', DAY_MS],
  ['{"retry_after":null}', null],
  ['{"retry_after":"soon"}', null],
  ['{"retry_after":""}', null],
  ['{"retry_after":{}}', null],
  ['{"parameters":null}', null],
  ['[35]', null],
  ['null', null],
  ['35 seconds', null],
  ['', null],
])('the body %s asks to wait %s ms', (body, ms) => {
  expect(bodyRetryAfterMs(body)).toBe(ms)
})
