import { EventSource } from 'eventsource'
import { pino } from 'pino'
import { expect, onTestFinished, vi } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import type { StreamOptions } from '../../../../api/events/stream/stream.js'
import { passes } from '../../../../clickhouse/events/log.js'
import { healthDriftEvent } from '../../../../clickhouse/events/types.js'
import { SUBSCRIPTION_KEY } from '../../../support/app.js'
import { addEvents, madeUpEvent } from '../../../support/events.js'
import { addApiKey } from '../../../support/keys.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, type Tick } from '../../../support/rows.js'
import { test as base } from '../../../support/services.js'
import { ask, eventIds, listening, openStream, PATIENCE } from '../../../support/stream.js'

const QUICK: Partial<StreamOptions> = { intervalMs: 20, heartbeatMs: 50 }

type App = Awaited<ReturnType<typeof buildApp>>

type Start = (streams?: Partial<StreamOptions>, maxEventLoopDelayMs?: number) => Promise<{ app: App; url: string }>

const test = base.extend<{ start: Start }>({
  start: async ({ clickhouse }, use) => {
    const apps: App[] = []
    await use(async (streams = {}, maxEventLoopDelayMs = 0) => {
      const logger = pino({ level: 'silent' })
      const options = { streams: { ...QUICK, ...streams }, maxEventLoopDelayMs, logger }
      const app = await buildApp({ clickhouse, now: () => new Date(), ...options })
      apps.push(app)
      return { app, url: await listening(app) }
    })
    for (const app of apps) await app.close()
  },
})

const A = stableAddress(1)
const B = stableAddress(2)

/** Events about A, about A and B, about B, and about the service, in turn. */
const someEvents = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const stables = [[A], [A, B], [B], []][(from + i) % 4] ?? []
    const type = (['peg_break.started', 'flow_anomaly.detected', 'peg_break.ended', 'system.health_drift'] as const)[
      (from + i) % 4
    ]
    const data = {
      made_up: from + i,
      severity: (from + i) % 8 < 4 ? 'mild' : 'severe',
      max_deviation_bps: 40 + from + i,
    }
    return madeUpEvent(from + i, { stables, data, ...(type && { type }) })
  })
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

const addStables = (clickhouse: Parameters<typeof addFacts>[0]) =>
  addFacts(clickhouse, { stablecoins: [stablecoin(1, { stable: A }), stablecoin(2, { stable: B })] })

test('events arrive as they are recorded, equal to those of the list, and each client gets those it requested', async ({
  clickhouse,
  start,
}) => {
  await addStables(clickhouse)
  const { app, url } = await start()
  await addEvents(clickhouse, someEvents(0, 3))
  const filters = [
    {},
    { types: ['peg_break.started', 'flow_anomaly.detected'] },
    { stables: [B] },
    { types: ['peg_break.ended', 'system.health_drift'], stables: [A] },
    { severity: 'mild' as const, min_bps: 50 },
  ]
  const streams = await Promise.all(
    filters.map(({ stables, ...filter }) => {
      const query = Object.entries({ ...filter, ...(stables && { stable: stables }) })
      return openStream(`${url}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`)
    }),
  )
  const recorded = someEvents(3, 20)
  for (let i = 0; i < recorded.length; i += 3) await addEvents(clickhouse, recorded.slice(i, i + 3))
  for (const [i, filter] of filters.entries()) {
    const stream = streams[i]
    if (!stream) throw new Error('no stream')
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'access-control-allow-origin': '*',
    })
    const expected = ids(recorded.filter((event) => passes(event, filter)))
    await vi.waitFor(() => expect(eventIds(stream)).toEqual(expected), PATIENCE)
    expect(stream.messages[0]).toEqual({ event: 'ready', id: '3', data: { sequence: 3 } })
  }
  const all = () => streams[0]?.messages.slice(1) ?? []
  for (const { event, id, data } of all()) expect([data.event, `${data.sequence}`]).toEqual([event, id])
  expect(all().map(({ data }) => data.sequence)).toEqual(recorded.map((_, i) => i + 4))
  const drift = { component: 'ingest', status: 'behind', lag_blocks: null, lag_seconds: 200 } as const
  await addEvents(clickhouse, [healthDriftEvent(drift, new Date(1_760_000_000_000), '')])
  await vi.waitFor(() => expect(all()).toHaveLength(recorded.length + 1), PATIENCE)
  const listed = (await app.inject('/api/v1/events?limit=1')).json()
  expect(listed.events).toEqual([all().at(-1)?.data])
  await vi.waitFor(() => expect(streams[0]?.comments()).toBeGreaterThan(2), PATIENCE)
})

test('a client that reconnects gets every missed event once, while the log grows', async ({ clickhouse, start }) => {
  const { url } = await start()
  const events = someEvents(0, 1300)
  await addEvents(clickhouse, events.slice(0, 1000))
  const whole = await openStream(url, { 'last-event-id': '0' })
  // The header is newer than the URL: the URL is that of the first connection.
  const header = await openStream(`${url}?after=7`, { 'last-event-id': '990' })
  const query = await openStream(`${url}?after=10&types=peg_break.ended&severity=severe`)
  for (let i = 1000; i < 1300; i += 10) await addEvents(clickhouse, events.slice(i, i + 10))
  await vi.waitFor(() => expect(eventIds(whole)).toEqual(ids(events)), PATIENCE)
  await vi.waitFor(() => expect(eventIds(header)).toEqual(ids(events.slice(990))), PATIENCE)
  const ended = events.slice(10).filter(({ type, data }) => type === 'peg_break.ended' && data.severity === 'severe')
  await vi.waitFor(() => expect(eventIds(query)).toEqual(ids(ended)), PATIENCE)

  for (const unknown of ['1301', 'evt_1', '99999999999999999999']) {
    const stream = await openStream(url, { 'last-event-id': unknown })
    await vi.waitFor(() => expect(stream.messages.length).toBeGreaterThan(0), PATIENCE)
    expect(stream.messages[0]).toEqual({ event: 'ready', id: '1300', data: { sequence: 1300, unknown_position: true } })
  }

  const refusal = async (headers: Record<string, string>, search = '') => {
    const response = await ask(`${url}${search}`, headers)
    const { parameter } = JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
    return [response.statusCode, parameter]
  }
  expect(await refusal({}, '?after=1301')).toEqual([400, 'after'])
  expect(await refusal({}, '?types=peg_samples')).toEqual([400, 'types'])
  expect(await refusal({}, '?severity=worst')).toEqual([400, 'severity'])
  expect(await refusal({}, '?min_bps=0')).toEqual([400, 'min_bps'])
  expect(await refusal({}, '?min_seconds=soon')).toEqual([400, 'min_seconds'])
  expect(await refusal({}, '?min_size=1000001')).toEqual([400, 'min_size'])
  expect(await refusal({}, `?stable=${A}`)).toEqual([404, 'stable'])
})

test('samples are the newest of each stable, and are sent when something has changed', async ({
  clickhouse,
  start,
}) => {
  await addStables(clickhouse)
  const begin = Math.floor(Date.now() / 1000) - 100
  let block = 0
  const addBlock = async (a: Tick['price'], b: Tick['price']): Promise<void> => {
    block++
    const at = begin + block
    const samples = [A, B].flatMap((stable, i) => pegSamples(stable, [{ at, price: i === 0 ? a : b }], block))
    await addFacts(clickhouse, { samples })
    await addBlocks(clickhouse, [at], block)
  }
  await addBlock(1_000_000, 999_000)
  await addBlock(1_000_100, 999_000)
  const { url } = await start()
  const all = await openStream(`${url}?types=peg_sample`)
  const onlyB = await openStream(`${url}?stable=${B}`)
  const noSamples = await openStream(`${url}?types=peg_break.started`)
  const seen = ({ messages }: typeof all) =>
    messages
      .filter(({ event }) => event === 'peg_sample')
      .map(({ id, data: { stable, status, price_vs_refusd, block_number } }) => {
        expect(id).toBeUndefined()
        return [stable === A ? 'A' : 'B', status, price_vs_refusd, block_number]
      })
  const expected: unknown[] = [
    ['A', 'quoted', 1.0001, 2],
    ['B', 'quoted', 0.999, 2],
  ]
  await vi.waitFor(() => expect(seen(all)).toEqual(expected), PATIENCE)
  expect(all.messages.at(-1)?.data).toEqual({
    stable: B,
    status: 'quoted',
    price_vs_refusd: 0.999,
    spread_bps: 10,
    buy_price: 0.9991,
    mid_price: 0.99905,
    block_number: 2,
    sampled_at: `${new Date((begin + 2) * 1000).toISOString().slice(0, 19).replace('T', ' ')}+00`,
  })
  for (const [a, b, ...news] of [
    [1_000_100, 999_000],
    [1_000_100, 998_000, ['B', 'quoted', 0.998, 4]],
    [1_000_100, 'no_liquidity', ['B', 'no_liquidity', null, 5]],
    [1_000_200, 999_000, ['A', 'quoted', 1.0002, 6], ['B', 'quoted', 0.999, 6]],
  ] as [Tick['price'], Tick['price'], ...unknown[]][]) {
    await addBlock(a, b)
    expected.push(...news)
    await vi.waitFor(() => expect(seen(all)).toEqual(expected), PATIENCE)
  }
  const ofB = expected.filter((sample) => (sample as string[])[0] === 'B')
  await vi.waitFor(() => expect(seen(onlyB)).toEqual(ofB), PATIENCE)
  expect(seen(noSamples)).toEqual([])
})

test('streams are limited per address and in total, and a client that leaves makes room', async ({
  clickhouse,
  start,
}) => {
  await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
  const { app, url } = await start({ perAddress: 2 })
  const counted = async () => /^plumbline_streams (\d+)$/m.exec((await app.inject('/metrics')).payload)?.[1]
  expect(await counted()).toBe('0')
  const open = [await openStream(url), await openStream(url)]
  const third = await ask(url)
  third.resume()
  expect([third.statusCode, third.headers['retry-after']]).toEqual([429, '5'])
  expect(await counted()).toBe('2')
  const withKey = await openStream(url, { authorization: `Bearer ${SUBSCRIPTION_KEY}` })
  expect(withKey.response.statusCode).toBe(200)
  withKey.response.destroy()
  open[0]?.response.destroy()
  await vi.waitFor(async () => expect((await openStream(url)).response.statusCode).toBe(200), PATIENCE)

  await app.close()
  await vi.waitFor(async () => expect((await app.metrics.streams.get()).values[0]?.value).toBe(0), PATIENCE)

  const { url: full } = await start({ total: 1 })
  await openStream(full)
  const second = await ask(full)
  second.resume()
  expect([second.statusCode, second.headers['retry-after']]).toEqual([503, '5'])
})

test('a browser that is refused a stream reconnects by itself until it has one', async ({ start }) => {
  const { url: full } = await start({ total: 1 })
  const first = await openStream(full)
  const opened = vi.fn()
  const ready = vi.fn()
  const waitAt = (url: string): void => {
    const source = new EventSource(url)
    onTestFinished(() => source.close())
    source.addEventListener('open', opened)
    source.addEventListener('ready', ready)
  }
  waitAt(full)
  await vi.waitFor(() => expect(opened).toHaveBeenCalled(), PATIENCE)
  expect(ready).not.toHaveBeenCalled()
  first.response.destroy()
  await vi.waitFor(() => expect(ready).toHaveBeenCalledOnce(), PATIENCE)

  const { app, url: busy } = await start({}, 300)
  const block = () => {
    for (const until = Date.now() + 600; Date.now() < until; );
  }
  const blocking = setInterval(block, 0)
  onTestFinished(() => clearInterval(blocking))
  const shed = async () => (await app.metrics.shed.get()).values[0]?.value
  await vi.waitFor(async () => {
    expect((await ask(busy)).resume().statusCode).toBe(503)
  }, PATIENCE)
  const before = (await shed()) as number
  waitAt(busy)
  await vi.waitFor(async () => expect(await shed()).toBeGreaterThan(before), PATIENCE)
  clearInterval(blocking)
  await vi.waitFor(() => expect(ready).toHaveBeenCalledTimes(2), PATIENCE)
})

test('a client that does not read is disconnected, and others are not delayed', async ({ clickhouse, start }) => {
  // Long enough for a client on a busy machine to read its data.
  const { url } = await start({ perAddress: 2, stallMs: 20_000 })
  const slow = await ask(url)
  const quick = await openStream(url)
  await vi.waitFor(() => expect(quick.messages).toHaveLength(1), PATIENCE)
  expect((await ask(url)).resume().statusCode).toBe(429)
  // 60 MB, which no socket holds.
  const big = Array.from({ length: 6000 }, (_, i) => madeUpEvent(i, { data: { text: 'x'.repeat(10_000) } }))
  for (let i = 0; i < big.length; i += 500) await addEvents(clickhouse, big.slice(i, i + 500))
  await vi.waitFor(() => expect(eventIds(quick)).toEqual(ids(big)), PATIENCE)
  const again = await vi.waitFor(async () => {
    const response = await openStream(url, { 'last-event-id': '5990' })
    expect(response.response.statusCode).toBe(200)
    return response
  }, PATIENCE)
  // It can request later what it has not read.
  await vi.waitFor(() => expect(eventIds(again)).toEqual(ids(big.slice(5990))), PATIENCE)
  let read = 0
  slow.on('data', (chunk: Buffer) => (read += chunk.length)).on('error', () => {})
  await new Promise((resolve) => slow.once('close', resolve))
  expect(slow.complete).toBe(false)
  expect(read).toBeLessThan(60_000_000)
})

test('the server’s shutdown ends every stream, even those that nobody reads', async ({ clickhouse, start }) => {
  const { app, url } = await start()
  const open = await Promise.all([1, 2, 3].map(() => openStream(url)))
  const unread = await ask(url)
  unread.on('error', () => {})
  await addEvents(clickhouse, [madeUpEvent(1, { data: { text: 'x'.repeat(500_000) } })])
  for (const stream of open) await vi.waitFor(() => expect(eventIds(stream)).toHaveLength(1), PATIENCE)
  await app.close()
  for (const { over } of open) expect(await over).toBe(true)
  expect(open.map(({ messages }) => messages.length)).toEqual([2, 2, 2])
})
