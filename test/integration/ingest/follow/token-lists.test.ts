import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { tokenLists } from '../../../../clickhouse/stablecoins/token-lists.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { test as base } from '../../../support/app.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { type CopyTo, withIngested } from '../../../support/ingested.js'
import { tokenListFile } from '../../../support/local-node.js'
import type { TestChain } from '../../../support/own-chain.js'
import { mismatches, runVerify } from '../../../support/verify.js'

/** The list changes while ingest is stopped after this block. */
const STOPPED_AFTER = 60
/** BWUSD is removed and CNUSD added. */
const BEFORE = { TRACK: 'listed', BATCH_BLOCKS: '20', TOKEN_LIST: tokenListFile('pathUSD', 'ABUSD', 'BWUSD') }
const AFTER = { ...BEFORE, TOKEN_LIST: tokenListFile('pathUSD', 'ABUSD', 'CNUSD') }

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 120 })
})
afterAll(async () => {
  await chain?.remove()
})

const test = base.extend<{ copyBefore: CopyTo }>({
  copyBefore: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withIngested({ rpcUrl: chain.rpcUrl, head: STOPPED_AFTER }, BEFORE, use),
    { scope: 'file' },
  ],
})

const address = (symbol: string): string => chain.plan.stable(symbol).address

type Sampled = { stable: string; first: number; last: number; samples: number; uncounted: number }

async function sampled(clickhouse: ClickHouseClient): Promise<Sampled[]> {
  const query = `
    SELECT stable, toUInt32(min(block_number)) AS first, toUInt32(max(block_number)) AS last, toUInt32(count()) AS samples,
           toUInt32(countIf(elapsed_seconds = 0)) AS uncounted
    FROM peg_samples GROUP BY stable ORDER BY stable`
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
}

const goOn = (env: ClickHouseEnv, clickhouse: ClickHouseClient, settings: Record<string, string>) =>
  ingestAll(env, clickhouse, chain.rpcUrl, chain.head, settings)

describe('when ingest starts with another list', () => {
  test('a stable that is added is sampled from then on, and one that is removed until then', async ({
    clickhouse,
    clickhouseEnv,
    copyBefore,
  }) => {
    await copyBefore(clickhouse, clickhouseEnv)
    await goOn(clickhouseEnv, clickhouse, AFTER)
    const [first, second, ...more] = await tokenLists(clickhouse)
    expect(more).toEqual([])
    expect(first).toMatchObject({ from_block: 0, holds_from: 0, track: 'listed' })
    const changed = second?.from_block ?? 0
    expect(changed).toBeGreaterThanOrEqual(STOPPED_AFTER)
    expect(changed).toBeLessThan(chain.head - 20)

    const rows = new Map((await sampled(clickhouse)).map(({ stable, ...row }) => [stable, row]))
    expect([...rows.keys()]).toEqual([REFERENCE_STABLE, ...['ABUSD', 'BWUSD', 'CNUSD'].map(address)].toSorted())
    expect(rows.get(address('ABUSD'))).toMatchObject({ last: chain.head, uncounted: 1 })
    expect(rows.get(address('BWUSD'))).toMatchObject({ last: changed - 1, uncounted: 1 })
    // Its first sample speaks for no time before it.
    const samples = chain.head - changed + 1
    expect(rows.get(address('CNUSD'))).toEqual({ first: changed, last: chain.head, samples, uncounted: 1 })
  })

  test('every block matches the chain with the list of its time', async ({ clickhouse, clickhouseEnv, copyBefore }) => {
    await copyBefore(clickhouse, clickhouseEnv)
    await goOn(clickhouseEnv, clickhouse, AFTER)
    const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
    expect(mismatches(output), output).toEqual([])
    expect(code).toBe(0)
  })

  test('the tier of a stable is that of the asked time', async ({
    app,
    clickhouse,
    clickhouseEnv,
    clock,
    copyBefore,
  }) => {
    await copyBefore(clickhouse, clickhouseEnv)
    await goOn(clickhouseEnv, clickhouse, AFTER)
    const changedAt = (await tokenLists(clickhouse)).at(-1)?.holds_from ?? 0
    clock.now = new Date((changedAt + 1800) * 1000)
    const tiers = async (query: string) => {
      const { stablecoins } = (await app.inject(`/api/v1/stablecoins${query}`)).json()
      const tierOf = new Map(stablecoins.map(({ address, tier }: Record<string, string>) => [address, tier]))
      return ['ABUSD', 'BWUSD', 'CNUSD'].map((symbol) => tierOf.get(address(symbol)))
    }
    expect(await tiers(`?as_of=${changedAt - 1}`)).toEqual(['listed', 'listed', 'unlisted'])
    expect(await tiers(`?as_of=${changedAt}`)).toEqual(['listed', 'unlisted', 'listed'])
    expect(await tiers('')).toEqual(['listed', 'unlisted', 'listed'])
  })
})

test('a start with the same list, whatever its order, records nothing', async ({
  clickhouse,
  clickhouseEnv,
  copyBefore,
}) => {
  await copyBefore(clickhouse, clickhouseEnv)
  await goOn(clickhouseEnv, clickhouse, { ...BEFORE, TOKEN_LIST: tokenListFile('BWUSD', 'ABUSD', 'pathUSD') })
  expect(await tokenLists(clickhouse)).toHaveLength(1)
})
