import { expect } from 'vitest'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import { addApiKey } from '../../../support/keys.js'
import { addBlocks, addFacts, flow, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'

const HEADERS = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }
const LIST = '/api/v1/stablecoins'
const series = (i: number, query: string): string => `${LIST}/${stableAddress(i)}/peg/series?from=20m&${query}`

test.beforeEach(async ({ clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = Array.from({ length: 20 }, (_, i) => now - 1200 + 60 * i)
  await addBlocks(clickhouse, times)
  const ticks = times.map((at) => ({ at, price: 1_000_000 }))
  await addFacts(clickhouse, {
    stablecoins: [1, 2, 3].map((i) => stablecoin(i)),
    samples: [1, 2].flatMap((i) => pegSamples(stableAddress(i), ticks)),
    flows: times.map((at) => flow(1, 2, at)),
  })
})

test('a cursor continues the list that returned it, and is refused by every other', async ({ app }) => {
  const cursorOf = async (url: string): Promise<string> => {
    const { next_cursor } = (await app.inject({ url, headers: HEADERS })).json()
    expect([url, typeof next_cursor]).toEqual([url, 'string'])
    return next_cursor
  }
  const statusOf = async (url: string, cursor: string) => {
    const response = await app.inject({ url: `${url}&cursor=${cursor}`, headers: HEADERS })
    return response.statusCode === 400 ? response.json().detail : response.statusCode
  }
  const OTHER = 'cursor is of another list or of other parameters: repeat those of the page that returned it'

  const stables = await cursorOf(`${LIST}?limit=1&currency=USD`)
  expect(await statusOf(`${LIST}?limit=2&currency=USD`, stables)).toBe(200)
  expect(await statusOf(`${LIST}?currency=USD&as_of=5m`, stables)).toBe(200)
  expect(await statusOf(`${LIST}?limit=1`, stables)).toBe(OTHER)
  expect(await statusOf(`${LIST}?limit=1&currency=EUR`, stables)).toBe(OTHER)
  expect(await statusOf('/api/v1/fee-economics/overview?limit=1', stables)).toMatch(/^cursor is /)
  expect(await statusOf(`${LIST}?currency=USD`, stables.split('.')[0] as string)).toBe(OTHER)

  const buckets = await cursorOf(series(1, 'interval=1m&limit=3'))
  expect(await statusOf(series(1, 'interval=1m&format=csv'), buckets)).toBe(200)
  expect(await statusOf(series(2, 'interval=1m&limit=3'), buckets)).toBe(OTHER)
  expect(await statusOf(series(1, 'interval=5m'), buckets)).toBe(OTHER)
  expect(await statusOf(series(1, 'interval=1m').replace('peg/', 'supply/'), buckets)).toBe(OTHER)

  const flows = await cursorOf(`${LIST}/flows/export?from=1h&limit=3`)
  expect(await statusOf(`${LIST}/flows/export?from=1h`, flows)).toBe(200)
  expect(await statusOf(`${LIST}/flows/export?from=2h`, flows)).toBe(OTHER)
})

test('HEAD has the length of an export, and ranges its bytes, as HEAD or the first of them found it', async ({
  app,
  clock,
}) => {
  const to = Math.floor(clock.now.getTime() / 1000)
  const flows = `${LIST}/flows/export?from=1h&to=${to}&limit=3`
  for (const url of [`${series(1, 'interval=1m&limit=3')}&to=${to}`, flows])
    for (const format of ['json', 'ndjson', 'csv', 'parquet', 'arrow']) {
      const ask = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
        app.inject({ url: `${url}&format=${format}`, headers: { ...HEADERS, ...headers }, method })
      const whole = await ask()
      const bytes = whole.rawPayload
      const size = bytes.length
      const head = await ask({ range: 'bytes=0-9' }, 'HEAD')
      expect([head.statusCode, head.rawPayload.length, head.headers['content-length']]).toEqual([200, 0, `${size}`])
      const names = ['content-type', 'content-disposition', 'x-coverage', 'x-next-cursor']
      expect(names.map((name) => head.headers[name])).toEqual(names.map((name) => whole.headers[name]))
      const { etag } = head.headers as { etag: string }
      expect([head.headers['accept-ranges'], etag]).toEqual(['bytes', expect.stringMatching(/^"[^"]+"$/)])

      // With every place for an export taken, and at a later time.
      const release = Array.from({ length: 4 }, () => app.exportSlots.take())
      clock.now = new Date(clock.now.getTime() + 7000)
      const pieces = [
        ['bytes=0-9', 0, 10],
        ['bytes=10-', 10, size],
        [`bytes=10-${size + 5}`, 10, size],
        ['bytes=-4', size - 4, size],
        ['bytes=-262144', 0, size],
      ] as const
      for (const [range, start, end] of pieces)
        for (const ifRange of [{}, { 'if-range': etag }]) {
          const { statusCode, headers, rawPayload } = await ask({ range, ...ifRange })
          expect([range, statusCode, headers['content-range'], headers.etag]).toEqual([
            range,
            206,
            `bytes ${start}-${end - 1}/${size}`,
            etag,
          ])
          expect(rawPayload.equals(bytes.subarray(start, end))).toBe(true)
        }
      const others = [
        { range: 'bytes=0-1,4-5' },
        { range: 'bytes=9-0' },
        { range: 'bytes=-' },
        { range: 'rows=0-1' },
        { range: 'bytes=0-9', 'if-range': '"x"' },
        { range: 'bytes=0-9', 'if-range': `W/${etag}` },
        { range: 'bytes=0-9', 'if-range': clock.now.toUTCString() },
      ]
      for (const headers of others) {
        const answer = await ask(headers)
        expect([headers, answer.statusCode, answer.headers.etag]).toEqual([headers, 200, etag])
        expect(answer.rawPayload.equals(bytes)).toBe(true)
      }
      for (const range of [`bytes=${size}-`, 'bytes=-0']) {
        const none = await ask({ range })
        expect([none.statusCode, none.headers['content-range']]).toEqual([416, `bytes */${size}`])
        expect(none.json().type).toBe('urn:plumbline:problem:range-not-satisfiable')
      }
      expect((await ask()).statusCode).toBe(503)
      for (const free of release) free()
    }
})

test('what is kept for ranges is its caller’s, and what is made again has another ETag if it differs', async ({
  app,
  clickhouse,
  clock,
}) => {
  const { key: otherKey } = await addApiKey(clickhouse)
  const url = `${LIST}/flows/export?from=1h&limit=3&format=csv&provenance=true`
  const ask = (key: string, headers = {}) =>
    app.inject({ url, headers: { authorization: `Bearer ${key}`, range: 'bytes=0-199', ...headers } })
  const first = await ask(SUBSCRIPTION_KEY)
  expect([first.statusCode, (await ask(SUBSCRIPTION_KEY)).headers.etag]).toEqual([206, first.headers.etag])
  clock.now = new Date(clock.now.getTime() + 1000)
  const other = await ask(otherKey)
  expect(other.statusCode).toBe(206)
  expect(other.headers.etag).not.toBe(first.headers.etag)
  expect((await app.inject({ url, headers: { range: 'bytes=0-9' } })).statusCode).toBe(402)
  for (const memory of app.memories.all()) memory.forget()
  const { statusCode, headers } = await ask(SUBSCRIPTION_KEY, { 'if-range': first.headers.etag })
  expect([statusCode, headers.etag]).toEqual([200, other.headers.etag])
})

test('the time of a sample is accepted as it is returned', async ({ app }) => {
  const url = `${LIST}/${stableAddress(1)}/peg`
  const { sampled_at, block_number } = (await app.inject(url)).json().current
  for (const time of [sampled_at, encodeURIComponent(sampled_at)]) {
    const past = await app.inject(`${url}?as_of=${time}`)
    expect([past.statusCode, past.json().current.block_number]).toEqual([200, block_number])
    expect((await app.inject(`${url}/series?interval=1m&from=${time}`)).statusCode).toBe(200)
  }
})
