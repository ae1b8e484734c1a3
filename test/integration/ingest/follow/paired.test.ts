import type { ClickHouseClient } from '@clickhouse/client'
import { createClient, encodeFunctionData, type Hex, http, numberToHex, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { beforeAll, expect } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { MOST_UNLISTED } from '../../../../clickhouse/chain/sampling.js'
import { accounts } from '../../../../local/chain/accounts.js'
import type { Call } from '../../../../local/chain/calls.js'
import { test as base } from '../../../support/app.js'
import { backfillAll } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { type CopyTo, withIngested } from '../../../support/ingested.js'
import { tokenListFile } from '../../../support/local-node.js'
import { withDatabase } from '../../../support/services.js'
import { mine, newToken } from '../../../support/transactions.js'
import { mismatches, runVerify } from '../../../support/verify.js'

/** Two stables are on the list; all others need a place. */
const SETTINGS = { TRACK: 'paired', BATCH_BLOCKS: '20', TOKEN_LIST: tokenListFile('pathUSD', 'ABUSD') }
const BOOKS_A_BLOCK = 10
/** Blocks after which one is final on a local chain. */
const FINAL_AFTER = 64

const openBook = (token: Hex): Call => ({
  to: Addresses.stablecoinDex,
  data: encodeFunctionData({ abi: Abis.stablecoinDex, functionName: 'createPair', args: [token] }),
})

const chain = useStillChain({ historyBlocks: 30 })
/** A block after some of the books and before the others. */
let among = 0
// A stranger makes more tokens than are sampled, and opens a book for each.
beforeAll(async () => {
  const tokens: Hex[] = []
  for (let i = 0; i < MOST_UNLISTED; i++) tokens.push((await newToken(chain, 9_000 + i)).token)
  for (let i = 0; i < tokens.length; i += BOOKS_A_BLOCK) {
    const calls = tokens.slice(i, i + BOOKS_A_BLOCK).map(openBook)
    for (const { status } of await mine(chain, [{ from: accounts.issuer, calls }])) expect(status).toBe('0x1')
  }
  among = chain.head - 4
  // Only a final block can be the first of a tip.
  for (let i = 0; i < FINAL_AFTER; i++) await mine(chain, [])
})

const test = base.extend<{ copy: CopyTo }>({
  copy: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withIngested({ rpcUrl: chain.rpcUrl, head: chain.head }, SETTINGS, use),
    { scope: 'file' },
  ],
})

const LISTED = () => [Addresses.pathUsd.toLowerCase(), chain.plan.stable('ABUSD').address]

/** The stables with books, in the order in which the chain opened them, without the listed ones. */
async function booksOfOthers(): Promise<{ stable: string; block: number }[]> {
  const node = createClient({ transport: http(chain.rpcUrl) })
  const filter = { address: Addresses.stablecoinDex, fromBlock: numberToHex(1), toBlock: numberToHex(chain.head) }
  const logs = await node.request({ method: 'eth_getLogs', params: [filter] } as never)
  return parseEventLogs({ abi: Abis.stablecoinDex, logs: logs as never })
    .flatMap(({ eventName, args, blockNumber }) =>
      eventName === 'PairCreated' ? [{ stable: args.base.toLowerCase(), block: Number(blockNumber) }] : [],
    )
    .filter(({ stable }) => !LISTED().includes(stable))
}

async function sampled(clickhouse: ClickHouseClient) {
  const query = `
    SELECT stable, toUInt32(min(block_number)) AS first, toUInt32(max(block_number)) AS last, toUInt32(count()) AS samples
    FROM peg_samples GROUP BY stable ORDER BY stable`
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
}

test('the listed stables are sampled and the first hundred others from the block of their book on, whoever opens more', async ({
  clickhouse,
  clickhouseEnv,
  copy,
}) => {
  await copy(clickhouse, clickhouseEnv)
  const others = await booksOfOthers()
  expect(others.length).toBeGreaterThan(MOST_UNLISTED + 5)
  const created = await clickhouse.query({
    query: `SELECT stable, toUInt32(greatest(block_number, 1)) AS first FROM stablecoins WHERE stable IN ('${LISTED().join("', '")}')`,
    format: 'JSONEachRow',
  })
  const expected = [
    ...(await created.json<{ stable: string; first: number }>()),
    ...others.slice(0, MOST_UNLISTED).map(({ stable, block: first }) => ({ stable, first })),
  ]
  expect(await sampled(clickhouse)).toEqual(
    expected
      .map((one) => ({ ...one, last: chain.head, samples: chain.head - one.first + 1 }))
      .toSorted((a, b) => (a.stable < b.stable ? -1 : 1)),
  )
})

test('answers say who is sampled, and why a stable is not', async ({ app, clickhouse, clickhouseEnv, clock, copy }) => {
  await copy(clickhouse, clickhouseEnv)
  const newest = (await newestBlock(clickhouse))?.block_time ?? new Date(0)
  clock.now = new Date(newest.getTime() + 1000)
  const others = await booksOfOthers()
  const tracked = async (is: boolean): Promise<string[]> => {
    const answer = await app.inject(`/api/v1/stablecoins?tracked=${is}&limit=500`)
    return answer.json().stablecoins.map(({ address }: { address: string }) => address)
  }
  const places = others.slice(0, MOST_UNLISTED).map(({ stable }) => stable)
  expect((await tracked(true)).toSorted()).toEqual([...LISTED(), ...places].toSorted())
  expect(await tracked(false)).toEqual(expect.arrayContaining(others.slice(MOST_UNLISTED).map(({ stable }) => stable)))

  const [first, last] = [others[0]?.stable, others.at(-1)?.stable]
  const pegOf = async (stable?: string) => (await app.inject(`/api/v1/stablecoins/${stable}/peg`)).json()
  expect(await pegOf(first)).toMatchObject({ current: { price_vs_refusd: expect.any(Number) } })
  expect(await pegOf(last)).toMatchObject({
    current: null,
    coverage: {
      status: 'unavailable',
      message: expect.stringContaining(
        `because it is not on the token list, nor among the first ${MOST_UNLISTED} others with a book on the DEX.`,
      ),
      missing: [expect.objectContaining({ reason: 'not_sampled' })],
    },
  })
})

test('every block matches the chain, also by the books that the chain alone gives', async ({
  clickhouse,
  clickhouseEnv,
  copy,
}) => {
  await copy(clickhouse, clickhouseEnv)
  const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(output), output).toEqual([])
  expect(code, output).toBe(0)
})

test('a tip that begins among the books, and the backfill of what was before, give the same rows', async ({
  clickhouse,
  clickhouseEnv,
  copy,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head, { ...SETTINGS, START_BLOCK: `${among}` })
  await backfillAll(clickhouseEnv, chain.rpcUrl)
  expect(await sampled(clickhouse)).toHaveLength(LISTED().length + MOST_UNLISTED)
  await withDatabase(async (env, whole) => {
    await copy(whole, env)
    expect(await fingerprint(clickhouse)).toEqual(await fingerprint(whole))
  })
})
