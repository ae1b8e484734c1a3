import { HttpRequestError, RpcRequestError } from 'viem'
import { describe, expect, test } from 'vitest'
import { isRateLimited, offeredBlocks, retryAfterMs } from '../../../../ingest/sources/refusals.js'

const url = 'http://node.example/v2/max-range-key'
const refused = (code: number, message: string) => new RpcRequestError({ body: {}, url, error: { code, message } })
const http = (status: number, headers: Record<string, string> = {}) =>
  new HttpRequestError({
    url,
    status,
    headers: new Headers(headers),
    details: status === 429 ? 'Too Many Requests' : '',
  })

describe('a refused range of logs', () => {
  test.for([
    ['query exceeds max block range 5000', 5000],
    ['eth_getLogs is limited to a 10,000 range', 10_000],
    ['You can make eth_getLogs requests with up to a 10 block range.', 10],
    ['Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range', 2000],
    ['block range is too wide (maximum 1024)', 1024],
    ['range 1000000 exceeds limit of 10000', 10_000],
    ['exceeds the range allowed for your plan (100001 > 500)', 500],
    ['requested too many blocks from 1000 to 101000, maximum is set to 2048', 2048],
    ['query exceeds max results 20000, retry with the range 1000-1299', 300],
    ['query returned more than 10000 results. Try with this block range [0x3E8, 0x44B].', 100],
    ['query returned more than 10000 results', null],
    ['query exceeds max results 20000', null],
    ['Log response size exceeded: 150MB', null],
    ['block range is too large', null],
    ['query timeout exceeded: block range took more than 30 seconds', null],
  ] as const)('offers what it says: %s', ([message, blocks]) => {
    expect(offeredBlocks(refused(-32000, message), { from: 1000, to: 1000 + 100_000 })).toBe(blocks)
  })

  test('offers what the data of the error says, if it says nothing else', () => {
    const error = {
      code: -32602,
      message: 'invalid params',
      data: { payload: 'range 9009594 is bigger than range limit 2000' },
    }
    expect(offeredBlocks(new RpcRequestError({ body: {}, url, error }), { from: 1, to: 9_009_594 })).toBe(2000)
  })

  test('offers nothing on the page of a gateway', () => {
    const page = '<html><style>.block { max-width: 960px }</style><title>504 Gateway Time-out</title></html>'
    expect(offeredBlocks(new HttpRequestError({ url, status: 504, details: page }), { from: 1, to: 10_000 })).toBe(null)
  })
})

test.for([
  [http(429), true],
  [http(503, { 'retry-after': '3' }), true],
  [http(503), false],
  [refused(-32005, 'project ID request rate exceeded'), true],
  [refused(-32016, 'over rate limit'), true],
  [refused(429, 'Your app has exceeded its compute units per second capacity'), true],
  [refused(-32097, 'call rate limit exhausted, retry in 10s'), true],
  [refused(-32005, 'query returned more than 10000 results'), false],
] as const)('a node that limits the rate is known: %s', ([error, isLimit]) => {
  expect(isRateLimited(error)).toBe(isLimit)
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
  expect(retryAfterMs(refused(-32097, 'call rate limit exhausted, retry in 10s'), now)).toBe(10_000)
  expect(retryAfterMs(refused(-32097, 'rate limit: try again in 10m0s'), now)).toBe(60_000)
})
