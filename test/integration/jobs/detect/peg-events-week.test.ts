import { expect } from 'vitest'
import { pegExcursions } from '../../../../clickhouse/peg/break-detection.js'
import { planMarket } from '../../../../local/chain/plan.js'
import { pegSamples, type Tick } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { addMarket } from '../../../support/wild-market.js'

const MINUTES = 7 * 1440
const START = Math.floor(Date.now() / 120_000) * 120 - (MINUTES + 60) * 60

test('a week of slow drift has no break, and a week with planned breaks has exactly those', async ({ clickhouse }) => {
  const plan = planMarket({ seed: 21, blocks: MINUTES, blockSeconds: 60, liveBlockSeconds: 60, stables: 10 })
  const times = Array.from({ length: MINUTES }, (_, i) => START + (i + 1) * 60)
  const samples = plan.tokens.flatMap(({ symbol, address }) =>
    pegSamples(
      address,
      times.map((at, i): Tick => {
        const { status, sell } = plan.quoteAt(symbol, i + 1)
        return { at, price: status === 'quoted' ? Number(sell) : status }
      }),
    ),
  )
  await addMarket(clickhouse, samples, times)
  const [found = []] = await pegExcursions(clickhouse, [], { after: START, ends: [times.at(-1) ?? 0] })
  const breaksOf = (symbol: string) =>
    plan.episodes(1, MINUTES).filter((episode) => 'sizeBps' in episode && episode.stable === symbol)
  let calm = 0
  for (const { symbol, address } of plan.tokens) {
    const own = found.filter(({ stable }) => stable === address)
    const planned = breaksOf(symbol).flatMap(({ kind, fromBlock, toBlock }) => {
      const minutes = toBlock - fromBlock
      const severities = [...(minutes >= 5 ? ['mild'] : []), ...(kind === 'severe_break' ? ['severe'] : [])]
      return severities.map((severity) => `${severity} from ${fromBlock} to ${toBlock}`)
    })
    if (planned.length === 0) calm++
    expect(
      own
        .map(({ severity, started_block, ended_block }) => `${severity} from ${started_block} to ${ended_block}`)
        .sort(),
    ).toEqual(planned.sort())
  }
  expect(calm).toBeGreaterThan(5)
  expect(found.length).toBeGreaterThan(100)
})
