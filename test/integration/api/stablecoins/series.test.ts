import { expect } from 'vitest'
import { randomFor } from '../../../../local/chain/random.js'
import { bucketStarts, pegBucket, supplyBucket } from '../../../../oracle/series.js'
import { test } from '../../../support/app.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  supplyEvent,
} from '../../../support/rows.js'

const SECONDS = { '1m': 60, '5m': 300, '1h': 3600, '1d': 86_400 }
type Page = { data: unknown[]; next_cursor: string | null }

const INTERVALS = Object.entries(SECONDS)

const url = (kind: 'peg' | 'supply', query: Record<string, string | number>, stable = stableAddress(1)) =>
  `/api/v1/stablecoins/${stable}/${kind}/series?${new URLSearchParams(query as Record<string, string>)}`

/** Blocks of three days that end now: some share a second, some are minutes apart. */
function blockTimes(now: number): number[] {
  const random = randomFor(3, 'blocks', 1)
  const times: number[] = []
  for (let at = now - 3 * 86_400; at < now; at += random.int(0, 240)) times.push(at)
  return times
}

/** A price that leaves both bands and is sometimes missing. */
function market(times: readonly number[]) {
  const random = randomFor(3, 'prices', 1)
  return pegSamples(
    stableAddress(1),
    times.map((at, i) => {
      const isDry = i % 50 < 5
      return { at, price: isDry ? ('no_liquidity' as const) : 1_000_000 + random.int(-7_000, 7_000) }
    }),
  )
}

test('a price bucket follows from its samples, in any range and interval', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = blockTimes(now)
  const samples = market(times)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], samples })
  const random = randomFor(4, 'ranges', 1)
  for (const [interval, seconds] of INTERVALS) {
    for (let i = 0; i < 10; i++) {
      const from = now - random.int(0, 4 * 86_400)
      const to = random.int(from, now)
      const body = (await app.inject(url('peg', { from, to, interval }))).json()
      const expected = bucketStarts(seconds, from, to, Math.min(...times), Math.max(...times)).map((start) =>
        pegBucket(samples, start, seconds),
      )
      expect(body).toMatchObject({ address: stableAddress(1), interval, next_cursor: null })
      expect(body.data).toEqual(expected)
    }
  }
})

test('a bucket has the figures of the window that ends at the same time', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = blockTimes(now)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], samples: market(times) })
  for (const [interval, index] of [
    ['1h', 0],
    ['1d', 1],
  ] as const) {
    const { data } = (await app.inject(url('peg', { from: '3d', interval }))).json()
    expect(data.length).toBeGreaterThan(1)
    for (const bucket of data.slice(-3)) {
      const peg = await app.inject(`/api/v1/stablecoins/${stableAddress(1)}/peg?as_of=${bucket.bucket_end}`)
      const window = peg.json().windows[index]
      expect({ ...bucket }).toMatchObject({
        mean: window.mean_price,
        low: window.min_price,
        high: window.max_price,
        sample_count: window.sample_count,
        unquoted_count: window.unquoted_count,
        seconds_outside_10bps: window.seconds_outside_10bps,
        seconds_outside_50bps: window.seconds_outside_50bps,
      })
    }
  }
})

test('a supply bucket has the state at its end, and the changes within it', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = blockTimes(now)
  const random = randomFor(5, 'supply', 1)
  const stable = stableAddress(1)
  // The first read comes hours after the first block; nothing happens on the second day.
  const changed = times
    .map((block_time, i) => ({ block_time, block_number: i + 1 }))
    .filter(({ block_time }, i) => {
      const age = now - block_time
      return i % 7 === 0 && age < 2.8 * 86_400 && (age < 86_400 || age > 1.9 * 86_400)
    })
  const events = changed.flatMap((at, i) =>
    (['mint', 'burn', 'burn_blocked', 'burn_at', 'cap'] as const)
      .slice(i % 5)
      .map((kind, log_index) => supplyEvent(stable, { ...at, kind, log_index, amount_raw: `${random.int(1, 1e9)}` })),
  )
  const none = String(2n ** 128n - 1n)
  const states = changed.map((at, i) =>
    stateRead(stable, { ...at, supply_raw: String(2n ** 127n + BigInt(i)), cap_raw: i % 3 === 0 ? none : `${i}` }),
  )
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], states, supplyEvents: events })
  for (const [interval, seconds] of INTERVALS) {
    for (let i = 0; i < 8; i++) {
      const from = now - random.int(0, 4 * 86_400)
      const to = random.int(from, now)
      const { data } = (await app.inject(url('supply', { from, to, interval }))).json()
      const starts = bucketStarts(seconds, from, to, Math.min(...times), Math.max(...times))
      expect(data).toEqual(starts.map((start) => supplyBucket(states, events, start, seconds)))
    }
  }
})

test('pages of any length add up to the whole, and each has its cursor in body and header', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = blockTimes(now)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], samples: market(times) })
  const query = { from: '2d', interval: '1h' }
  const whole = (await app.inject(url('peg', query))).json()
  expect(whole.data).toHaveLength(47)
  expect(whole.next_cursor).toBeNull()
  for (const limit of [1, 7, 46, 47]) {
    const rows: unknown[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const response: { json: () => Page; headers: Record<string, unknown> } = await app.inject(
        url('peg', { ...query, limit, ...(cursor && { cursor }) }),
      )
      const page: Page = response.json()
      expect(page.data.length).toBeLessThanOrEqual(limit)
      expect(response.headers['x-next-cursor'] ?? null).toBe(page.next_cursor)
      rows.push(...page.data)
      cursor = page.next_cursor
      pages += 1
    } while (cursor !== null)
    expect(rows).toEqual(whole.data)
    expect(pages).toBe(Math.ceil(47 / limit))
  }
})

test('the example of the methodology is correct', async ({ app, clickhouse, clock }) => {
  const start = Math.floor(clock.now.getTime() / 3_600_000) * 3600 - 3600
  const ticks = [
    { at: start - 30, price: 1_000_000 },
    { at: start + 30, price: 998_500 },
    { at: start + 70, price: 'no_liquidity' as const },
    { at: start + 100, price: 1_000_200 },
  ]
  await addBlocks(clickhouse, [start - 30, start + 301])
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], samples: pegSamples(stableAddress(1), ticks) })
  const { data } = (await app.inject(url('peg', { from: start, interval: '5m' }))).json()
  const iso = (time: number) => new Date(time * 1000).toISOString().replace('.000', '')
  expect(data).toEqual([
    {
      bucket_start: iso(start),
      bucket_end: iso(start + 300),
      open: 0.9985,
      high: 1.0002,
      low: 0.9985,
      close: 1.0002,
      mean: 0.99935,
      seconds_outside_10bps: 30,
      seconds_outside_50bps: 0,
      sample_count: 2,
      unquoted_count: 1,
    },
  ])
})

test('a bucket is only returned once a block is beyond its end', async ({ app, clickhouse, clock }) => {
  const hour = Math.floor(clock.now.getTime() / 3_600_000) * 3600 - 7200
  await addBlocks(clickhouse, [hour - 100, hour])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(stableAddress(1), [
      { at: hour - 100, price: 1_000_000 },
      { at: hour, price: 999_000 },
    ]),
  })
  const counts = async () =>
    (await app.inject(url('peg', { from: '1d' }))).json().data.map((one: { sample_count: number }) => one.sample_count)
  expect(await counts()).toEqual([])
  await addBlocks(clickhouse, [hour], 3)
  expect(await counts()).toEqual([])
  await addBlocks(clickhouse, [hour + 1], 4)
  expect(await counts()).toEqual([2])
})

test('without blocks, and outside of history, there are no rows in any format', async ({ app, clickhouse, clock }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  for (const kind of ['peg', 'supply'] as const) {
    expect((await app.inject(url(kind, { from: '1d' }))).json().data).toEqual([])
    expect((await app.inject(url(kind, { from: '1d', format: 'ndjson' }))).body).toBe('')
  }
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBlocks(clickhouse, [now - 7200, now])
  expect((await app.inject(url('peg', { from: '2020-01-01', to: '2021-01-01' }))).json().data).toEqual([])
})

test('invalid parameters are refused by name', async ({ app, clickhouse }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const refused = async (query: Record<string, string>, stable?: string) => {
    const response = await app.inject(url('peg', query, stable))
    expect(response.headers['content-type']).toContain('application/problem+json')
    return [response.statusCode, response.json().parameter]
  }
  expect(await refused({ from: 'x' })).toEqual([400, 'from'])
  expect(await refused({ from: '1d', to: '2d' })).toEqual([400, 'from'])
  expect(await refused({ from: '1d', to: '2999-01-01' })).toEqual([400, 'to'])
  expect(await refused({ from: '1d', interval: '2m' })).toEqual([400, 'interval'])
  expect(await refused({ from: '1d', format: 'xml' })).toEqual([400, 'format'])
  expect(await refused({ from: '1d', limit: '1000001' })).toEqual([400, 'limit'])
  expect(await refused({ from: '1d', limit: '0' })).toEqual([400, 'limit'])
  expect(await refused({ from: '1d', cursor: 'x' })).toEqual([400, 'cursor'])
  expect(await refused({ from: '1d', page: '2' })).toEqual([400, 'page'])
  expect(await refused({ from: '1d' }, stableAddress(9))).toEqual([404, 'address'])
})

test('csv writes null as requested, and says where its rows come from', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBlocks(clickhouse, [now - 3600, now - 60])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(stableAddress(1), [{ at: now - 60, price: 'no_liquidity' }]),
  })
  const path = url('peg', { from: '10m', interval: '1m', format: 'csv' })
  const csv = async (options = '') => {
    const { body, headers } = await app.inject(path + options)
    expect(headers['content-disposition']).toMatch(/^attachment; filename="peg-0x[0-9a-f]{40}-1m-\d+\.csv"$/)
    return body.trimEnd().split('\n')
  }
  const [head, ...rows] = await csv()
  expect(rows.at(-1)).toContain('\\N')
  expect(await csv('&null=%5CN')).toEqual([head, ...rows])
  const empty = await csv('&null=empty')
  expect(empty).toEqual([head, ...rows.map((row) => row.replaceAll('\\N', ''))])
  const [line, ...rest] = await csv('&null=empty&provenance=true')
  expect(rest).toEqual(empty)
  expect(line).toMatch(
    /^# Plumbline \/api\/v1\/stablecoins\/0x[^ ]+; coverage \w+, \d+ ranges missing; methodology \d+; answered .+Z$/,
  )
  for (const option of ['null=empty', 'provenance=true']) {
    const response = await app.inject(`${url('peg', { from: '10m', format: 'ndjson' })}&${option}`)
    expect([response.statusCode, response.json().parameter]).toEqual([400, option.split('=')[0]])
  }
})
