import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { buildApp } from '../../../../api/app.js'
import type { Facts } from '../../../../clickhouse/facts/facts.js'
import { randomFor } from '../../../../local/chain/random.js'
import { isoSeconds } from '../../../../process/instants.js'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import { addRows } from '../../../support/economy-rows.js'
import { randomEconomy } from '../../../support/random-economy.js'
import { addBlocks, flow, pegSamples, stableAddress, supplyEvent } from '../../../support/rows.js'

const START = 1_780_000_000
const SEED = 14
const ECONOMY = randomEconomy(SEED, START)

/** Facts of every kind that answers about the past are computed from, at the times of the blocks. */
function allFacts(): Partial<Facts> {
  const random = randomFor(SEED, 'as-of')
  const places = ECONOMY.times.map((block_time, i) => ({ block_number: i + 1, block_time }))
  const samples = ECONOMY.stables.flatMap((stable) =>
    pegSamples(
      stable,
      ECONOMY.times.map((at) => ({ at, price: random.chance(0.1) ? 'no_liquidity' : random.int(990_000, 1_010_000) })),
    ),
  )
  return {
    ...ECONOMY.facts,
    peg_samples: samples,
    depth_samples: samples.map(({ stable, block_number, block_time }) => ({
      stable,
      block_number,
      block_time,
      size_tokens: 1000,
      sell_status: 'quoted' as const,
      sell_raw: `${random.int(900, 1000)}000000`,
      buy_status: 'quoted' as const,
      buy_raw: `${random.int(1000, 1100)}000000`,
    })),
    supply_events: places.map((place) => supplyEvent(random.pick(ECONOMY.stables), place)),
    flows: places.map(({ block_time, ...place }) =>
      flow(1, random.int(2, 3), block_time, { ...place, usd_micros: `${random.int(1, 9)}000000` }),
    ),
  }
}

/** The facts of the blocks in (after, until], and those blocks. */
async function addUntil(clickhouse: ClickHouseClient, facts: Partial<Facts>, after: number, until: number) {
  const isNow = ({ block_time }: { block_time: number }): boolean => block_time > after && block_time <= until
  const entries = Object.entries(facts).map(([table, rows]) => [
    table,
    (rows as { block_time: number }[]).filter(isNow),
  ])
  await addRows(clickhouse, Object.fromEntries(entries))
  const first = ECONOMY.times.findIndex((time) => time > after)
  const blocks = ECONOMY.times.filter((time) => time > after && time <= until)
  await addBlocks(clickhouse, blocks, first + 1)
}

type App = Awaited<ReturnType<typeof buildApp>>

/** The paths of every route that has a parameter. */
async function routesWith(app: App, parameter: string): Promise<string[]> {
  const { paths } = (await app.inject('/openapi.json')).json() as {
    paths: Record<string, { get?: { parameters?: { name: string }[] } }>
  }
  return Object.entries(paths)
    .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === parameter))
    .map(([path]) => path)
}

/** The answers of all routes about the past as of an instant, and of all ranges that end at it. */
async function answersAt(app: App, at: number): Promise<Record<string, string>> {
  const authorization = `Bearer ${SUBSCRIPTION_KEY}`
  const moments = (await routesWith(app, 'as_of')).map((path) => `${path}?as_of=${at}`)
  // A bucket that lasts longer than what is read comes with the block that ends it.
  const whole = at - (at % 3600)
  const ranges = (await routesWith(app, 'from')).map((path) => `${path}?from=${START + 3600}&to=${whole}`)
  const found: Record<string, string> = {}
  for (const route of [...moments, ...ranges])
    for (const stable of route.includes('{address}') ? ECONOMY.stables : [stableAddress(1)]) {
      const url = route.replace('{address}', stable)
      const { statusCode, body } = await app.inject({ url, headers: { authorization } })
      found[url] = `${statusCode} ${body}`
    }
  return found
}

test('an answer as of an instant, or about a range, stays the same to the byte, whatever happens later', async ({
  clickhouse,
  app,
  clock,
}) => {
  const facts = allFacts()
  // The second of a block, so that the next one may be a second later.
  const at = ECONOMY.times[400] as number
  await addUntil(clickhouse, facts, 0, at)
  clock.now = new Date((at + 1) * 1000)
  const first = await answersAt(app, at)
  await addUntil(clickhouse, facts, at, Number.POSITIVE_INFINITY)
  clock.now = new Date(((ECONOMY.times.at(-1) as number) + 1) * 1000)
  const second = await answersAt(app, at)
  expect(second).toEqual(first)
  const answered = Object.entries(first).filter(([, answer]) => answer.startsWith('200'))
  expect(new Set(answered.map(([url]) => url.replace(/0x[0-9a-f]{40}/, '').replace(/\?.*/, '')))).toEqual(
    new Set([
      '/api/v1/stablecoins',
      '/api/v1/stablecoins/',
      '/api/v1/stablecoins//peg',
      '/api/v1/stablecoins//peg/averages',
      '/api/v1/stablecoins//peg-events',
      '/api/v1/stablecoins//rewards',
      '/api/v1/stablecoins//issuance',
      '/api/v1/stablecoins//holders',
      '/api/v1/stablecoins//roles',
      '/api/v1/stablecoins//analysis',
      '/api/v1/stablecoins//book',
      '/api/v1/stablecoins//depth',
      '/api/v1/stablecoins//liquidity',
      '/api/v1/stablecoins/peg-events',
      '/api/v1/stablecoins/flows',
      '/api/v1/stablecoins/flow-anomalies',
      '/api/v1/stablecoins/flows/scores',
      '/api/v1/fee-economics/overview',
      '/api/v1/events',
      '/api/v1/stablecoins/flows/history',
      '/api/v1/stablecoins/flows/export',
      '/api/v1/stablecoins//peg/series',
      '/api/v1/stablecoins//supply/series',
      '/api/v1/stablecoins//risk/series',
    ]),
  )
})

test('live windows end with the newest stored block, as coverage does, without the rows of a batch that is not whole', async ({
  clickhouse,
  app,
  clock,
}) => {
  const facts = allFacts()
  const at = ECONOMY.times[400] as number
  await addUntil(clickhouse, facts, 0, at)
  const later = Object.entries(facts).map(([table, rows]) => [
    table,
    (rows as { block_time: number }[]).filter(({ block_time }) => block_time > at),
  ])
  await addRows(clickhouse, Object.fromEntries(later))
  // Ingest has not seen the head of the chain for long enough.
  clock.now = new Date(Math.max(at * 1000, Date.now()) + 180_000)
  const [stable] = ECONOMY.stables
  const paths = ['peg/averages', 'holders', 'issuance', 'rewards'].map((path) => `stablecoins/${stable}/${path}`)
  for (const path of [...paths, 'stablecoins/flows', 'fee-economics/overview']) {
    const url = `/api/v1/${path}`
    const past = (await app.inject(`${url}?as_of=${at}`)).json()
    const live = (await app.inject(url)).json()
    const coverageOf = ({ coverage: { measured_from, measured_until } }: typeof live) => [measured_from, measured_until]
    const figuresOf = ({ as_of: _, coverage: __, ...figures }: typeof live) => JSON.stringify(figures)
    expect([path, coverageOf(live)]).toEqual([path, coverageOf(past)])
    expect([path, live.coverage.missing]).toMatchObject([path, [{ to: isoSeconds(clock.now) }]])
    expect([path, JSON.parse(figuresOf(live))]).toMatchObject([path, JSON.parse(figuresOf(past))])
  }
})
