import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { test } from '../../../support/app.js'
import { account, feeDistribution, rewardDistribution } from '../../../support/economy-rows.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead } from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const STABLE = stableAddress(1)
const DAY = 86_400

test('a measurement from long ago still holds', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const then = Math.floor((now - 100 * DAY) / DAY) * DAY
  const at = { block_number: 1, block_time: then - 60 }
  await addBlocks(clickhouse, [at.block_time, now - 10])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(STABLE, [{ at: at.block_time, price: 998_000 }]),
    states: [stateRead(STABLE, { supply_raw: '5000000', ...at })],
  })
  const depth = { sell_status: 'quoted' as const, sell_raw: '998000000', buy_status: 'quoted' as const, buy_raw: '1' }
  await insertFacts(clickhouse, 'depth_samples', [{ stable: STABLE, size_tokens: 1000, ...at, ...depth }], 'depth')
  await insertFacts(clickhouse, 'reward_distributions', [rewardDistribution(STABLE, account(1), 7, at)], 'rewards')
  await insertFacts(clickhouse, 'fee_distributions', [feeDistribution(STABLE, account(2), 3, at)], 'fees')
  await snapshotRisk(clickhouse, slotAt('risk', then))
  await snapshotReserves(clickhouse, slotAt('reserves', then))

  const ask = async (path: string) => (await app.inject(`/api/v1/${path}`)).json()
  const own = (what: string) => `stablecoins/${STABLE}${what}`
  for (const query of ['', `?as_of=${now - 5}`, '?as_of=40d']) {
    expect(await ask(own(`/peg${query}`))).toMatchObject({ current: { price_vs_refusd: 0.998, block_number: 1 } })
    expect(await ask(own(query))).toMatchObject({ supply: { current: '5000000' }, peg: { price: 0.998 } })
    expect(await ask(own(`/risk${query}`))).toMatchObject({ computed_at: new Date(then * 1000).toISOString() })
    expect(await ask(own(`/reserves${query}`))).toMatchObject({ reserves: [{ backing_usd: 4.99 }] })
    expect((await ask(own(`/depth${query}`))).sizes).toHaveLength(1)
    expect((await ask(own(`/rewards${query}`))).recent_distributions).toMatchObject([{ amount_tokens: 7 }])
    expect((await ask(`fee-economics/overview${query}`)).recent_distributions).toMatchObject([{ amount_tokens: 3 }])
    expect(await ask(`stablecoins${query}`)).toMatchObject({ stablecoins: [{ supply: { current: '5000000' } }] })
  }
})
