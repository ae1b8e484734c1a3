import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { tokenLists } from '../../../../clickhouse/chain/token-lists.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { isoSeconds } from '../../../../process/instants.js'
import { test as base } from '../../../support/app.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { type CopyTo, withIngested } from '../../../support/ingested.js'
import { tokenListFile } from '../../../support/local-node.js'
import { slotAt } from '../../../support/slots.js'
import { mismatches, runVerify } from '../../../support/verify.js'

/** The list changes while ingest is stopped after this block. */
const STOPPED_AFTER = 60
/** BWUSD is removed and CNUSD added. */
const BEFORE = { TRACK: 'listed', BATCH_BLOCKS: '20', TOKEN_LIST: tokenListFile('pathUSD', 'ABUSD', 'BWUSD') }
const AFTER = { ...BEFORE, TOKEN_LIST: tokenListFile('pathUSD', 'ABUSD', 'CNUSD') }

const chain = useStillChain({ historyBlocks: 120 })

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

describe('a stable that is removed', () => {
  test('has no live price, and its live answers say since when it is not sampled', async ({
    app,
    clickhouse,
    clickhouseEnv,
    clock,
    copyBefore,
  }) => {
    await copyBefore(clickhouse, clickhouseEnv)
    await goOn(clickhouseEnv, clickhouse, AFTER)
    const changedAt = (await tokenLists(clickhouse)).at(-1)?.holds_from ?? 0
    const newest = (await newestBlock(clickhouse))?.block_time ?? new Date(0)
    clock.now = new Date(newest.getTime() + 7000)
    const coverage = {
      status: 'unavailable',
      message: expect.stringContaining(`since ${isoSeconds(new Date(changedAt * 1000))}`),
    }
    const url = `/api/v1/stablecoins/${address('BWUSD')}`

    const live = (await app.inject(`${url}/peg`)).json()
    expect(live).toMatchObject({ current: null, coverage })
    const mark = Math.floor(newest.getTime() / 300_000) * 300
    expect(live.windows_as_of).toBe(isoSeconds(new Date(mark * 1000)))
    const { windows } = (await app.inject(`${url}/peg?as_of=${mark}`)).json()
    expect(live.windows).toEqual(windows)
    // The list changed more than 20 blocks, which are minutes, before.
    expect(live.windows[0].sample_count).toBeLessThan(40)

    expect((await app.inject(url)).json()).toMatchObject({ peg: null, coverage })
    const depth = (await app.inject(`${url}/depth`)).json()
    expect(depth).toMatchObject({ block_number: null, sampled_at: null, sizes: [], coverage })
    const { stablecoins } = (await app.inject('/api/v1/stablecoins')).json()
    expect(stablecoins.find((one: { address: string }) => one.address === address('BWUSD'))).toMatchObject({
      peg: null,
      coverage,
    })
    expect(await snapshotReserves(clickhouse, slotAt('reserves', mark))).toBeGreaterThan(0)
    expect((await app.inject(`${url}/reserves`)).json()).toMatchObject({ total_backing_usd: null, coverage })
  })

  test('keeps its history: answers about the time before are those that were given then', async ({
    app,
    clickhouse,
    clickhouseEnv,
    clock,
    copyBefore,
  }) => {
    await copyBefore(clickhouse, clickhouseEnv)
    const stopped = (await newestBlock(clickhouse))?.block_time.getTime() ?? 0
    clock.now = new Date(stopped + 7_200_000)
    const at = stopped / 1000 - 300
    const routes = ['', '/peg', '/depth'].map((route) => `/api/v1/stablecoins/${address('BWUSD')}${route}?as_of=${at}`)
    const ask = () =>
      Promise.all([`/api/v1/stablecoins?as_of=${at}`, ...routes].map(async (url) => (await app.inject(url)).json()))
    const before = await ask()
    await goOn(clickhouseEnv, clickhouse, AFTER)
    expect(await ask()).toEqual(before)
  })
})

test('a slot from before the change that is done again gives the same snapshots, digit for digit', async ({
  clickhouse,
  clickhouseEnv,
  copyBefore,
}) => {
  await copyBefore(clickhouse, clickhouseEnv)
  const at = (await newestBlock(clickhouse))?.block_time.getTime() ?? 0
  const slot = (job: string, revision: number) => slotAt(job, Math.floor(at / 300_000) * 300, revision)
  const snapshots = async (revision: number) => {
    await snapshotReserves(clickhouse, slot('reserves', revision))
    await snapshotRisk(clickhouse, slot('risk', revision))
    const tables = ['reserve_snapshots', 'risk_snapshots', 'extended_snapshots'].map(async (table) => {
      const query = `SELECT * EXCEPT (revision, published_at) FROM ${table} ORDER BY stable, revision DESC LIMIT 1 BY stable`
      return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Record<string, unknown>>()
    })
    return Promise.all(tables)
  }
  const first = await snapshots(0)
  const [reserves, risks] = first
  expect(reserves?.find(({ stable }) => stable === address('BWUSD'))?.price_micros).toEqual(expect.any(Number))
  expect(risks?.length).toBeGreaterThan(5)
  await goOn(clickhouseEnv, clickhouse, AFTER)
  expect(await snapshots(1)).toEqual(first)
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
