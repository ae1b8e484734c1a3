import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { currentPeg } from '../../../../clickhouse/peg/current.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const START = 1_760_000_000
const STABLE = stableAddress(1)

test('a stable whose samples a reorganization removes while its peg is read has none', async ({ clickhouse }) => {
  await addBlocks(clickhouse, [START, START + 60])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_time: START })],
    samples: pegSamples(STABLE, [{ at: START + 60, price: 'no_liquidity' }], 2),
  })
  const about = { stable: STABLE, as_of: new Date((START + 100) * 1000) }
  const asked: string[] = []
  let removed: Promise<unknown> | undefined
  const removal = (): Promise<unknown> => {
    removed ??= removeFacts(clickhouse, { from_block: 1, from_time: START - 1 })
    return removed
  }
  const changing = Object.assign(Object.create(clickhouse) as ClickHouseClient, {
    query: async (query: Parameters<ClickHouseClient['query']>[0]) => {
      const name = `${query.clickhouse_settings?.log_comment}`
      asked.push(name)
      if (name.startsWith('lost_quote')) await removal()
      return clickhouse.query(query)
    },
  })
  expect((await currentPeg(clickhouse, about)).newest).toMatchObject({ status: 'no_liquidity' })
  const none = { newest: null, priced: null, lost: null, unsampled: null }
  expect(await currentPeg(changing, about)).toEqual(none)
  expect(asked).toContain('lost_quote_hours')
})
