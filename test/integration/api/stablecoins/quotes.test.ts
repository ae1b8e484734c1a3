import { expect } from 'vitest'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { test } from '../../../support/app.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  type Tick,
} from '../../../support/rows.js'

const LIST = '/api/v1/stablecoins'
const HOUR = 3600
const DAY = 86_400

type Item = { address: string; peg: { price: number; block_number: number } | null; coverage: { status: string } }

test('200 tokens with a pair and no order: the list takes as few statements as it does without them', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const [long, short] = [now - 40 * DAY, now - 60]
  const times = [long, long + 60, short, now]
  await addBlocks(clickhouse, times)
  const ticks = (...prices: Tick['price'][]): Tick[] => prices.map((price, i) => ({ at: times[i] as number, price }))
  const dead = Array.from({ length: 200 }, (_, i) => stableAddress(100 + i))
  const [once, lively, recent] = [1, 2, 3].map(stableAddress) as [string, string, string]
  await addFacts(clickhouse, {
    stablecoins: [1, 2, 3, ...dead.map((_, i) => 100 + i)].map((i) => stablecoin(i, { block_time: long - 1 })),
    samples: [
      ...dead.flatMap((stable) => pegSamples(stable, ticks(...Array<'no_liquidity'>(4).fill('no_liquidity')))),
      ...pegSamples(once, ticks(999_000, 'no_liquidity', 'no_liquidity', 'no_liquidity')),
      ...pegSamples(lively, ticks(998_000, 998_000, 998_000, 997_000)),
      ...pegSamples(recent, ticks('no_liquidity', 'no_liquidity', 996_000, 'no_liquidity')),
    ],
    // Only one has been read recently; the rest not at all or long ago.
    states: [
      stateRead(lively, { block_time: now, block_number: 4 }),
      stateRead(once, { block_time: long, supply_raw: '7' }),
    ],
  })
  const statements: string[] = []
  observeQueries(clickhouse, (query) => statements.push(query))
  const ask = async (query: string): Promise<Record<string, Item>> => {
    statements.length = 0
    const response = await app.inject(`${LIST}${query}`)
    expect(response.statusCode).toBe(200)
    expect(statements.length, statements.join(', ')).toBeLessThanOrEqual(query === '' ? 5 : 7)
    return Object.fromEntries((response.json().stablecoins as Item[]).map((item) => [item.address, item]))
  }
  // The first request reads the ledger as well.
  await app.inject(LIST)
  const live = await ask('')
  expect(Object.keys(live)).toHaveLength(203)
  expect(live[once]).toMatchObject({
    peg: { price: 0.999, block_number: 1 },
    supply: { current: '7' },
    coverage: { status: 'partial' },
  })
  expect(live[lively]).toMatchObject({ peg: { price: 0.997 }, coverage: { status: 'complete' } })
  expect(live[recent]).toMatchObject({ peg: { price: 0.996, block_number: 3 }, coverage: { status: 'partial' } })
  for (const stable of dead) expect(live[stable]).toMatchObject({ peg: null, coverage: { status: 'unavailable' } })

  const before = await ask(`?as_of=${short}`)
  expect(before[once]).toEqual({ ...live[once], coverage: before[once]?.coverage })
  expect(before[recent]).toMatchObject({ peg: { price: 0.996 }, coverage: { status: 'complete' } })
  const past = await ask(`?as_of=${long + HOUR}`)
  expect(past[once]).toMatchObject({ peg: { price: 0.999 }, coverage: { status: 'partial' } })
  expect(past[recent]).toMatchObject({ peg: null })
  expect((await ask(`?as_of=${long}`))[once]).toMatchObject({ peg: { price: 0.999 }, coverage: { status: 'complete' } })
})
