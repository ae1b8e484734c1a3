import { expect } from 'vitest'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
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

test('HEAD of an export has the headers of GET and reads no rows, and Range gets the whole', async ({ app }) => {
  for (const url of [series(1, 'interval=1m&limit=3'), `${LIST}/flows/export?from=1h&limit=3`])
    for (const format of ['json', 'ndjson', 'csv', 'parquet', 'arrow']) {
      const request = { url: `${url}&format=${format}`, headers: HEADERS }
      const [whole, part] = [
        await app.inject(request),
        await app.inject({ ...request, headers: { ...HEADERS, range: 'bytes=0-9' } }),
      ]
      expect([part.statusCode, part.rawPayload.length]).toEqual([200, whole.rawPayload.length])
      // With every place for an export taken.
      const release = Array.from({ length: 4 }, () => app.exportSlots.take())
      const head = await app.inject({ ...request, method: 'HEAD' })
      for (const free of release) free()
      expect([head.statusCode, head.rawPayload.length]).toEqual([200, 0])
      const names = ['content-type', 'content-disposition', 'x-coverage', 'x-next-cursor', 'accept-ranges']
      expect(names.map((name) => head.headers[name])).toEqual(names.map((name) => whole.headers[name]))
      expect(head.headers['accept-ranges']).toBe('none')
    }
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
