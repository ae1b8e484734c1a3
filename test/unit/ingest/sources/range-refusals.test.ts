import { HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { describe, expect, test } from 'vitest'
import { isRangeRefused, isTimeout, retryAfterMs } from '../../../../ingest/sources/range-refusals.js'

const url = 'http://node.example/v2/max-range-key'
const refused = (code: number, message: string) => new RpcRequestError({ body: {}, url, error: { code, message } })
const http = (status: number, headers: Record<string, string> = {}) =>
  new HttpRequestError({ url, status, headers: new Headers(headers), details: 'Too Many Requests' })

describe('a refused range of logs', () => {
  test.for([
    [-32602, 'query exceeds max block range 100000'],
    [-32602, 'query exceeds max results 20000, retry with the range 100-200'],
    [-32005, 'query returned more than 10000 results'],
    [-32602, 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range'],
    [-32600, 'You can make eth_getLogs requests with up to a 10 block range. block range is too large'],
    [-32614, 'eth_getLogs is limited to a 10,000 range'],
    [-32000, 'block range is too wide'],
    [-32701, 'Please limit the query to at most 1000 blocks: exceed maximum block range: 50000'],
    [-32000, 'too many results'],
    [-32602, 'Block range limit exceeded'],
  ] as const)('is known by what nodes say: %s %s', ([code, message]) => {
    expect(isRangeRefused(refused(code, message))).toBe(true)
  })

  test.for([
    ['a rate limit', http(429)],
    ['a rate limit in JSON', refused(-32005, 'daily request count exceeded, request rate limited')],
    ['a dropped state', refused(-32000, 'missing trie node 5d3b5e (path )')],
    ['a bad parameter', refused(-32602, 'invalid argument 0: hex string without 0x prefix')],
    ['a failure that has a URL with such words', new HttpRequestError({ url, status: 502, details: 'Bad Gateway' })],
  ] as const)('is not %s', ([, error]) => {
    expect(isRangeRefused(error)).toBe(false)
  })

  test('is not a timeout, which has its own test', () => {
    const late = new TimeoutError({ body: {}, url })
    expect([isRangeRefused(late), isTimeout(late), isTimeout(http(503))]).toEqual([false, true, false])
  })
})

test('ingest waits as long as a node requests, up to a minute', () => {
  const now = Date.UTC(2026, 8, 1, 12, 0, 0)
  const pause = (retryAfter: string) => retryAfterMs(http(429, { 'retry-after': retryAfter }), now)
  expect(pause('7')).toBe(7000)
  expect(pause('Tue, 01 Sep 2026 12:00:05 GMT')).toBe(5000)
  expect(pause('3600')).toBe(60_000)
  expect(pause('soon')).toBe(0)
  expect(retryAfterMs(http(503), now)).toBe(0)
  expect(retryAfterMs(refused(-32000, 'no'), now)).toBe(0)
})
