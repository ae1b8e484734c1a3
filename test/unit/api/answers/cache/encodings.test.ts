import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress as unzstd } from 'fzstd'
import { expect, test } from 'vitest'
import { Answer } from '../../../../../api/answers/cache/answer.js'
import { encode, preferredCoding } from '../../../../../api/answers/cache/encodings.js'

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0.1, gzip;q=0.8', 'gzip'],
  ['zstd;q=0.9, br;q=0.9, gzip;q=0.9', 'br'],
  ['*', 'br'],
  ['*;q=0.5, br;q=0', 'zstd'],
  ['identity;q=1, *;q=0', 'identity'],
  ['gzip;q=0.5, identity', 'identity'],
  ['deflate, compress', 'identity'],
  ['identity;q=0', 'identity'],
  [';;;q=,', 'identity'],
])('Accept-Encoding %j is answered in %s', (header, coding) => {
  expect(preferredCoding(header)).toBe(coding)
  // The second result comes from the cache.
  expect(preferredCoding(header)).toBe(coding)
})

const body = Buffer.from(
  JSON.stringify(Array.from({ length: 300 }, (_, i) => ({ symbol: `USD${i}€`, price: 1 / (i + 1) }))),
)

test('a body is the same in every coding', async () => {
  expect(brotliDecompressSync(await encode(body, 'br'))).toEqual(body)
  expect(gunzipSync(await encode(body, 'gzip'))).toEqual(body)
  expect(Buffer.from(unzstd(await encode(body, 'zstd')))).toEqual(body)
})

const freshness = { maxAgeMs: 1, staleMs: 1, cacheControl: 'public' }

test('a body is compressed once, and each coding has its own ETag', async () => {
  const answer = new Answer(body, null, freshness)
  expect(answer.made('br')).toBeUndefined()
  const variants = await Promise.all([answer.variant('br'), answer.variant('br'), answer.variant('br')])
  expect(variants[1]).toBe(variants[0])
  expect(variants[2]).toBe(variants[0])
  expect(answer.made('br')).toBe(variants[0])
  const etags = await Promise.all(
    (['identity', 'br', 'zstd', 'gzip'] as const).map(async (c) => (await answer.variant(c)).etag),
  )
  expect(new Set(etags).size).toBe(4)
  expect(answer.size).toBeGreaterThan((5 * body.length) / 2)
})

test('a short body is not compressed', async () => {
  const answer = new Answer(Buffer.from('{}'), null, freshness)
  expect(await answer.variant('br')).toBe(answer.made('identity'))
})
