import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { randomFor } from '../../../../local/chain/random.js'
import { flowHoursOracle, flowsOracle } from '../../../../oracle/flows.js'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import { storedFlows } from '../../../support/flow-anomalies.js'
import { timesOf, wildFlows } from '../../../support/flow-market.js'
import { addBlocks, addFacts, flow } from '../../../support/rows.js'

const HISTORY = '/api/v1/stablecoins/flows/history'
const FLOWS = '/api/v1/stablecoins/flows'
const authorized = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }

/** A graph keyed by address, as the oracle returns it. */
function byAddress({ edges, nodes }: Record<'edges' | 'nodes', Record<string, unknown>[]>) {
  return {
    edges: Object.fromEntries(
      edges.map(({ from: _from, to: _to, from_address, to_address, ...sums }) => [
        `${from_address} ${to_address}`,
        sums,
      ]),
    ),
    nodes: Object.fromEntries(nodes.map(({ symbol: _, symbol_shared: __, address, ...sums }) => [`${address}`, sums])),
  }
}

const secondsOf = (instant: Date): number => Math.floor(instant.getTime() / 1000)

test('for any window and at any instant the flows are the sums over all single flows', {
  timeout: 300_000,
}, async ({ app, clickhouse, clock }) => {
  const now = secondsOf(clock.now)
  const start = now - 3 * 86_400
  const written = wildFlows(11, start, now)
  await addBlocks(clickhouse, timesOf(written), 1000)
  await addFacts(clickhouse, { flows: written })
  const flows = await storedFlows(clickhouse)
  const random = randomFor(11, 'windows')
  const times = timesOf(written)
  const instant = () => {
    const any = random.chance(0.4) ? random.pick(times) : random.int(start, now)
    return random.chance(0.2) ? Math.floor(any / 900) * 900 : any
  }
  for (let i = 0; i < 120; i++) {
    const [one, other] = [instant(), random.chance(0.2) ? 0 : instant()]
    const from = Math.max(Math.min(one, other || one - random.int(1, 1500)), start - 5000)
    const to = Math.min(Math.max(one, other || one + random.int(1, 1500)), now)
    if (from >= to || to <= (times[0] ?? 0)) continue
    const response = await app.inject({ url: `${HISTORY}?from=${from}&to=${to}`, headers: authorized })
    const history = response.json()
    expect(byAddress(history), `${from} to ${to}`).toEqual(flowsOracle(flows, from, to))
    expect(history.series, `${from} to ${to}`).toEqual(flowHoursOracle(flows, from, to))
    expect(history.window_hours).toBe(Math.ceil((to - from) / 3600))
    expect(history.coverage.status).toBe(from > (times[0] ?? 0) ? 'complete' : 'partial')
  }
  for (let i = 0; i < 120; i++) {
    const asOf = Math.max(instant(), times[0] ?? 0)
    const hours = random.pick([1, 6, 24])
    const response = await app.inject(`${FLOWS}?hours=${hours}&as_of=${asOf}`)
    expect(response.headers['x-service-as-of']).toBe(new Date(asOf * 1000).toISOString().replace('.000', ''))
    const graph = response.json()
    expect(graph.window_hours).toBe(hours)
    expect(byAddress(graph), `${hours} h as of ${asOf}`).toEqual(flowsOracle(flows, asOf + 1 - hours * 3600, asOf + 1))
  }
  for (const hours of [1, 6, 24]) {
    const live = (await app.inject(`${FLOWS}?hours=${hours}`)).json()
    expect(live).toEqual((await app.inject(`${FLOWS}?hours=${hours}&as_of=${times.at(-1)}`)).json())
  }
})

test('the series includes hours without a flow, and its hours add up to the edges', async ({
  app,
  clickhouse,
  clock,
}) => {
  const hour = Math.floor(secondsOf(clock.now) / 3600) * 3600 - 10 * 3600
  await addBlocks(clickhouse, [hour])
  await addFacts(clickhouse, { flows: [flow(1, 2, hour + 60), flow(2, 3, hour + 60), flow(1, 2, hour + 4 * 3600 + 1)] })
  const url = `${HISTORY}?from=${hour + 60}&to=${hour + 6 * 3600 + 1}`
  const { series, edges }: Record<'series' | 'edges', { volume_usd: string; tx_count: number }[]> = (
    await app.inject({ url, headers: authorized })
  ).json()
  expect(series.map(({ volume_usd, tx_count }) => [volume_usd, tx_count])).toEqual([
    ['2.000000', 2],
    ['0.000000', 0],
    ['0.000000', 0],
    ['0.000000', 0],
    ['1.000000', 1],
    ['0.000000', 0],
    ['0.000000', 0],
  ])
  expect(edges.map(({ volume_usd, tx_count }) => [volume_usd, tx_count])).toEqual([
    ['2.000000', 2],
    ['1.000000', 1],
  ])
})

test('without a key it has a price, but bad requests are reported first, and nobody pays for an empty answer', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = secondsOf(clock.now)
  await addBlocks(clickhouse, [now - 5000], 1000)
  const good = `${HISTORY}?from=${now - 4000}&to=${now}`
  const status = async (url: string, authorization?: string) => {
    const response = await app.inject({ url, headers: authorization === undefined ? {} : { authorization } })
    return [response.statusCode, response.json().type?.split(':').at(-1)]
  }
  expect(await status(good)).toEqual([402, 'payment-required'])
  expect((await status(good, `Basic ${SUBSCRIPTION_KEY}`))[0]).toBe(401)
  expect((await status(good, `Bearer ${SUBSCRIPTION_KEY}x`))[0]).toBe(401)
  expect((await status(good, authorized.authorization))[0]).toBe(200)
  for (const query of [
    `?from=${now}&to=${now}`,
    `?from=${now - 10}&to=${now - 20}`,
    `?from=${now - 10}&to=${now + 10}`,
    `?from=${now - 367 * 86_400}&to=${now}`,
    `?from=-1&to=${now}`,
    `?from=2026-02-31&to=${now}`,
    `?from=${now - 10}&to=${now}&hours=1`,
    `?from=1&to=99999999999`,
  ])
    expect([query, ...(await status(HISTORY + query))]).toEqual([query, 400, 'bad-parameter'])
  expect(await status(`${HISTORY}?from=${now - 9000}&to=${now - 5000}`)).toEqual([404, 'before-history'])
  const partial = await app.inject({ url: `${HISTORY}?from=${now - 9000}&to=${now}`, headers: authorized })
  expect(partial.json().coverage.status).toBe('partial')
})

test('its bounds are instants in any format, and may be omitted', async ({ app, clickhouse, clock }) => {
  const now = secondsOf(clock.now)
  await addBlocks(clickhouse, [now - 2 * 86_400, now - 600])
  await addFacts(clickhouse, { flows: [flow(1, 2, now - 2 * 86_400), flow(1, 2, now - 600)] })
  const boundsOf = async (query: string) => {
    const response = await app.inject({ url: HISTORY + query, headers: authorized })
    const { from, to } = response.json()
    return [from, to].map((instant) => Date.parse(instant) / 1000 - now)
  }
  expect(await boundsOf('')).toEqual([-86_400, 0])
  expect(await boundsOf('?from=6h')).toEqual([-6 * 3600, 0])
  expect(await boundsOf('?to=1h')).toEqual([-86_400 - 3600, -3600])
  const iso = new Date((now - 7200) * 1000).toISOString()
  expect(await boundsOf(`?from=${iso}&to=${now - 60}`)).toEqual([-7200, -60])
})

test('on a service without keys, no key is accepted', async ({ clickhouse, clock }) => {
  const app = await buildApp({ clickhouse, now: () => clock.now, logger: pino({ level: 'silent' }) })
  const now = secondsOf(clock.now)
  await addBlocks(clickhouse, [now - 5000])
  const response = await app.inject({ url: `${HISTORY}?from=${now - 10}&to=${now}`, headers: authorized })
  expect(response.statusCode).toBe(401)
  await app.close()
})
