import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress as unzstd } from 'fzstd'
import { describe, expect } from 'vitest'
import { SUBSCRIPTION_KEY } from '../../../support/app.js'
import { cachedApp } from '../../../support/cached-app.js'
import { addApiKey } from '../../../support/keys.js'
import { addBlocks, addFacts, flow, pegSamples, stableAddress, stablecoin, stateRead } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const STABLE = stableAddress(1)
const LIST = '/api/v1/stablecoins'
const PEG = `${LIST}/${STABLE}/peg`

/** The clock is fixed, so nothing expires, however busy the machine is. */
const FROZEN = { nowMs: () => 0 }

const PATHS = [
  LIST,
  `${LIST}/${STABLE}`,
  PEG,
  `${PEG}/averages`,
  `${LIST}/${STABLE}/peg-events`,
  `${LIST}/${STABLE}/depth`,
  `${LIST}/${STABLE}/liquidity?size=25000`,
  `${LIST}/${STABLE}/rewards`,
  `${LIST}/${STABLE}/issuance`,
  `${LIST}/${STABLE}/holders`,
  `${LIST}/${STABLE}/roles`,
  `${LIST}/flows`,
  `${LIST}/flow-anomalies`,
  `${LIST}/flows/scores`,
  '/api/v1/fee-economics/overview',
]

/** The queries for answers, except those that look up keys. */
const ofAnswers = (queries: readonly string[]): string[] => queries.filter((query) => query !== 'active_api_keys')

const now = (): number => Math.floor(Date.now() / 1000)

type Clickhouse = Parameters<typeof cachedApp>[0]

/** Twenty stables, so that the list is worth compressing, with a price each at `at`. */
async function addMarket(clickhouse: Clickhouse, at: number): Promise<void> {
  const stables = Array.from({ length: 20 }, (_, i) => i + 1)
  await addBlocks(clickhouse, [at - 3600, at - 60, at])
  await addFacts(clickhouse, {
    stablecoins: stables.map((i) => stablecoin(i, { block_time: at - 3600 })),
    states: stables.map((i) => stateRead(stableAddress(i), { block_time: at - 3600 })),
    samples: stables.flatMap((i) =>
      pegSamples(stableAddress(i), [
        { at: at - 60, price: 999_900 + i },
        { at, price: 999_990 + i },
      ]),
    ),
    flows: [flow(1, 2, at - 600)],
  })
}

describe('an answer that is requested again', () => {
  test('comes from memory with the same bytes, on every path and for every caller', async ({ clickhouse }) => {
    await addMarket(clickhouse, now() - 5)
    await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
    const app = await cachedApp(clickhouse, FROZEN)
    for (const path of PATHS) {
      const first = await app.inject(path)
      expect([path, first.statusCode, first.headers['cache-status']]).toEqual([path, 200, 'plumbline; fwd=miss'])
      const asked = ofAnswers(app.queries)
      const again = await app.inject({ url: path, headers: { authorization: `Bearer ${SUBSCRIPTION_KEY}` } })
      expect([path, again.statusCode, again.headers['cache-status']]).toEqual([path, 200, 'plumbline; hit'])
      expect(again.rawPayload).toEqual(first.rawPayload)
      expect(again.headers).toMatchObject({
        etag: first.headers.etag,
        'content-type': 'application/json; charset=utf-8',
        'cache-control': expect.stringMatching(/^public, max-age=\d+, stale-if-error=600$/),
        vary: 'Accept-Encoding',
        'access-control-allow-origin': '*',
        'x-request-id': expect.any(String),
      })
      expect(ofAnswers(app.queries)).toEqual(asked)
    }
  })

  test('is not sent again to a client that has it', async ({ clickhouse }) => {
    await addMarket(clickhouse, now() - 5)
    const app = await cachedApp(clickhouse, FROZEN)
    for (const path of PATHS) {
      const { etag } = (await app.inject(path)).headers as { etag: string }
      for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const response = await app.inject({ url: path, headers: { 'if-none-match': held } })
        expect([path, held, response.statusCode, response.body]).toEqual([path, held, 304, ''])
        expect(response.headers).toMatchObject({ etag, 'cache-control': expect.any(String), vary: 'Accept-Encoding' })
      }
      const other = await app.inject({ url: path, headers: { 'if-none-match': '"x"' } })
      expect(other.statusCode).toBe(200)
    }
  })

  test('is the same in every coding, each with an ETag of its own', async ({ clickhouse }) => {
    await addMarket(clickhouse, now() - 5)
    const app = await cachedApp(clickhouse, FROZEN)
    const plain = await app.inject(LIST)
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: (body: Buffer) => Buffer.from(unzstd(body)) }
    const etags = new Set([plain.headers.etag])
    for (const [coding, decode] of Object.entries(decoders)) {
      for (const _ of ['made', 'kept']) {
        const response = await app.inject({ url: LIST, headers: { 'accept-encoding': coding } })
        expect(response.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' })
        expect(decode(response.rawPayload).equals(plain.rawPayload)).toBe(true)
        expect(response.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
        etags.add(response.headers.etag)
      }
    }
    expect(etags.size).toBe(4)
    const refused = await app.inject({ url: LIST, headers: { 'accept-encoding': 'br;q=0, identity' } })
    expect(refused.headers).not.toHaveProperty('content-encoding')
  })

  test('has the same headers for HEAD, and no body', async ({ clickhouse }) => {
    await addMarket(clickhouse, now() - 5)
    const app = await cachedApp(clickhouse, FROZEN)
    const got = await app.inject(PEG)
    for (const _ of ['first', 'second']) {
      const response = await app.inject({ method: 'HEAD', url: PEG })
      expect([response.statusCode, response.body]).toEqual([200, ''])
      for (const name of ['etag', 'content-type', 'content-length', 'cache-control'])
        expect(response.headers[name]).toBe(got.headers[name])
    }
  })

  test('is refused to a caller with an invalid key', async ({ clickhouse }) => {
    await addMarket(clickhouse, now() - 5)
    const app = await cachedApp(clickhouse, FROZEN)
    await app.inject(PEG)
    const response = await app.inject({ url: PEG, headers: { authorization: 'Bearer no-key-that-anybody-was-given' } })
    expect([response.statusCode, response.headers['cache-control']]).toEqual([401, 'no-store'])
  })

  test('is one answer for all spellings of its URL', async ({ clickhouse }) => {
    await addMarket(clickhouse, now() - 5)
    const app = await cachedApp(clickhouse, FROZEN)
    await app.inject(PEG)
    const asked = app.queries.length
    for (const url of [
      `${LIST}/0x${STABLE.slice(2).toUpperCase()}/peg`,
      `${PEG}/`,
      `${PEG}?`,
      `${LIST}/%30${STABLE.slice(1)}/peg`,
    ])
      expect([url, (await app.inject(url)).headers['cache-status']]).toEqual([url, 'plumbline; hit'])
    expect(app.queries.length).toBe(asked)
  })
})

test('errors are not cached', async ({ clickhouse }) => {
  await addMarket(clickhouse, now() - 5)
  const app = await cachedApp(clickhouse, FROZEN)
  for (const [url, status] of [
    [`${LIST}/${stableAddress(99)}`, 404],
    [`${PEG}?as_of=tomorrow`, 400],
    [`${PEG}?as_of=2001-01-01`, 404],
  ] as const) {
    for (const _ of ['first', 'second']) {
      const response = await app.inject(url)
      expect([url, response.statusCode]).toEqual([url, status])
      expect(response.headers).not.toHaveProperty('etag')
      expect(response.headers).not.toHaveProperty('cache-status')
    }
  }
})

test('paid answers are not cached', async ({ clickhouse }) => {
  await addMarket(clickhouse, now() - 5)
  await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
  const app = await cachedApp(clickhouse, FROZEN)
  const response = await app.inject({
    url: `${LIST}/${STABLE}/analysis`,
    headers: { authorization: `Bearer ${SUBSCRIPTION_KEY}` },
  })
  expect(response.statusCode).toBe(200)
  expect(response.headers['cache-control']).toMatch(/^private/)
  expect(response.headers).not.toHaveProperty('etag')
})

test('concurrent requests wait for one computation', async ({ clickhouse }) => {
  await addMarket(clickhouse, now() - 5)
  const alone = await cachedApp(clickhouse, FROZEN)
  await alone.inject(PEG)
  const app = await cachedApp(clickhouse, FROZEN)
  const responses = await Promise.all(Array.from({ length: 50 }, () => app.inject(PEG)))
  expect(new Set(responses.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1)
  expect(app.queries.toSorted()).toEqual(alone.queries.toSorted())
})

test('a new block shows, and an answer older than its maximum age is not served', async ({ clickhouse }) => {
  const at = now() - 5
  await addMarket(clickhouse, at)
  const app = await cachedApp(clickhouse)
  const ask = async () => {
    const { headers, body } = await app.inject(PEG)
    const maxAge = Number(/max-age=(\d+)/.exec(`${headers['cache-control']}`)?.[1])
    expect(Number(headers.age ?? 0)).toBeLessThan(maxAge)
    expect(`${headers['cache-status']}`).not.toContain('stale')
    return (JSON.parse(body) as { current: { price_vs_refusd: number } }).current.price_vs_refusd
  }
  expect(await ask()).toBe(0.999991)
  await addBlocks(clickhouse, [at + 1], 4)
  await addFacts(clickhouse, { samples: pegSamples(STABLE, [{ at: at + 1, price: 998_000 }], 4) })
  await expect.poll(ask, { timeout: 60_000 }).toBe(0.998)
})
