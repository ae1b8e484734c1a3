import { readFileSync } from 'node:fs'
import type { ClickHouseClient } from '@clickhouse/client'
import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { beforeAll, expect } from 'vitest'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { type Account, accounts, devAccount } from '../../../../local/chain/accounts.js'
import { type Call, call, role } from '../../../../local/chain/calls.js'
import { createRpc, type Rpc } from '../../../../local/chain/rpc.js'
import { useStillChain } from '../../../support/chain.js'
import { type Asked, countedNode } from '../../../support/counted-node.js'
import { ingestAll } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'
import { mine, newToken } from '../../../support/transactions.js'

/**
 * What one event of a family may make ingest read and store, as docs/operations/strangers.md has it: calls of contracts in
 * the block of the event, and rows besides that of the fee and those of transfers, if these are stored.
 */
const BOUNDS = {
  policy: { calls: 0, rows: 2 },
  member: { calls: 0, rows: 1 },
  'administrator of a policy': { calls: 0, rows: 1 },
  token: { calls: 7, rows: 4 },
  'mint, burn, cap': { calls: 7, rows: 2 },
  pause: { calls: 7, rows: 3 },
  'policy of a stable': { calls: 7, rows: 2 },
  role: { calls: 0, rows: 1 },
  'pair, order, cancellation': { calls: 0, rows: 2 },
  fill: { calls: 2, rows: 3 },
  reward: { calls: 0, rows: 1 },
  'fee token': { calls: 0, rows: 1 },
  transfer: { calls: 0, rows: 0 },
} as const

/** Apart from what every transaction costs. */
const COUNTED = factTables.filter((table) => !['fees_paid', 'transfers', 'blocks'].includes(table))

/** A stable of the genesis block, in which fees can be paid. */
const ALPHA = '0x20c0000000000000000000000000000000000001'
const LONG = 'N'.repeat(10_240)
const TOKENS = 10n ** 6n

const chain = useStillChain({ historyBlocks: 30 })
let node: Rpc
beforeAll(async () => {
  node = createRpc(chain.rpcUrl)
})

const registry = (functionName: 'setPolicyAdmin', args: readonly [bigint, Hex]): Call => ({
  to: Addresses.tip403Registry,
  data: encodeFunctionData({ abi: Abis.tip403Registry, functionName, args }),
})

const repeated = (count: number, made: (i: number) => Call): Call[] => Array.from({ length: count }, (_, i) => made(i))

type Block = { number: number; hash: string; timestamp: string }
const blockAt = (number: number | 'latest'): Promise<Block> =>
  node.call('eth_getBlockByNumber', [
    typeof number === 'number' ? numberToHex(number) : number,
    false,
  ]) as Promise<Block>

/** Mines so that the next blocks, a second apart, are the first of no minute. */
async function startOfMinute(): Promise<void> {
  const { timestamp } = await blockAt('latest')
  await node.call('evm_setNextBlockTimestamp', [Math.ceil((Number(timestamp) + 1) / 300) * 300])
  await mine(chain, [])
}

/** Mines a block a second after the newest, and returns its number. */
async function mined(calls: readonly Call[], from: Account = accounts.issuer): Promise<number> {
  const { timestamp } = await blockAt('latest')
  await node.call('evm_setNextBlockTimestamp', [Number(timestamp) + 1])
  const receipts = await mine(chain, calls.length === 0 ? [] : [{ from, calls }])
  for (const { status } of receipts) expect(status).toBe('0x1')
  return chain.head
}

async function rowsAt(clickhouse: ClickHouseClient, block: number): Promise<{ rows: number; samples: number }> {
  const query = COUNTED.map(
    (table) => `SELECT '${table}' AS name, toUInt32(count()) AS rows FROM ${table} WHERE block_number = ${block}`,
  ).join(' UNION ALL ')
  const counts = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ name: string; rows: number }>()
  const samples = counts.find(({ name }) => name === 'peg_samples')?.rows ?? 0
  return { rows: counts.reduce((sum, { rows }) => sum + rows, 0) - samples, samples }
}

type Family = keyof typeof BOUNDS
const families = Object.entries(BOUNDS)

test('the bounds are those of the documentation', () => {
  const page = readFileSync(new URL('../../../../docs/operations/strangers.md', import.meta.url), 'utf8')
  for (const [family, { calls, rows }] of families)
    expect(page).toMatch(new RegExp(`^\\| ${family} +\\| ${calls} +\\| ${rows} +\\|`, 'm'))
})

/** A block with `events` events of a family, of which `reads` make something be read: one for each stable, however many events. */
type Spam = { family: Family; events: number; reads: number; block: number }

test('one event of any family makes ingest read and store no more than its bound, whoever sends it', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const { issuer, maker } = accounts
  const spam: Spam[] = []
  const block = async (
    family: Family,
    events: number,
    calls: readonly Call[],
    reads = 0,
    from = issuer,
  ): Promise<void> => {
    spam.push({ family, events, reads, block: await mined(calls, from) })
    // What the block would cost without the events.
    await mined([])
  }
  const { address } = issuer
  await startOfMinute()
  const { token: junk } = await newToken(chain, 5_000, { name: LONG, symbol: LONG })
  spam.push({ family: 'token', events: 1, reads: 1, block: chain.head })
  await mined([])
  const quote = Addresses.pathUsd as Hex
  await mined([
    call.grantRole(junk, role.issuer, address),
    call.grantRole(junk, role.pause, address),
    call.grantRole(junk, role.unpause, address),
  ])
  await block(
    'policy',
    50,
    repeated(50, () => call.createPolicy(address, 'blacklist', [])),
  )
  const counter = encodeFunctionData({ abi: Abis.tip403Registry, functionName: 'policyIdCounter' })
  const next = BigInt(
    (await node.call('eth_call', [{ to: Addresses.tip403Registry, data: counter }, 'latest'])) as string,
  )
  const own = next - 1n
  await block(
    'member',
    10,
    repeated(10, (i) => call.restrict(own, maker.address, i % 2 === 0)),
  )
  // The first such event of a process makes it learn the policy of each stable that it samples.
  await mined([registry('setPolicyAdmin', [own, address])])
  await block(
    'administrator of a policy',
    20,
    repeated(20, () => registry('setPolicyAdmin', [own, address])),
  )
  await block(
    'mint, burn, cap',
    10,
    repeated(10, () => call.mint(junk, address, 1_000n * TOKENS)),
    1,
  )
  await block(
    'mint, burn, cap',
    10,
    repeated(10, () => call.burn(junk, TOKENS)),
    1,
  )
  await block(
    'mint, burn, cap',
    10,
    repeated(10, (i) => call.setSupplyCap(junk, 10n ** 15n + BigInt(i))),
    1,
  )
  await block(
    'pause',
    10,
    repeated(10, (i) => (i % 2 === 0 ? call.pause(junk) : call.unpause(junk))),
    1,
  )
  await block(
    'role',
    10,
    repeated(10, (i) => call.grantRole(junk, role.burnBlocked, i % 2 ? address : maker.address)),
  )
  await mined([call.approveDex(junk)])
  // The first order makes the pair.
  await block(
    'pair, order, cancellation',
    11,
    repeated(10, () => call.place(junk, { isBid: false, tick: 100, amount: 100n * TOKENS })),
  )
  const bought = { tokenIn: 'pathUSD', tokenOut: 'junk', exact: 'in', amount: 20n * TOKENS } as const
  await block(
    'fill',
    5,
    repeated(5, () => call.swap(quote, junk, bought)),
    5,
    maker,
  )
  await block(
    'reward',
    5,
    repeated(5, () => call.setRewardRecipient(junk, address)),
  )
  await block(
    'transfer',
    10,
    repeated(10, () => call.transfer(junk, maker.address, 1n)),
  )
  await block(
    'fee token',
    5,
    repeated(5, (i) => call.setUserToken(i % 2 === 0 ? ALPHA : quote)),
    0,
    devAccount(5),
  )
  await block(
    'policy of a stable',
    5,
    repeated(5, () => call.changePolicy(junk, own)),
    1,
  )
  await mined([])

  const counted = await countedNode(chain.rpcUrl)
  await ingestAll(clickhouseEnv, clickhouse, counted.url, chain.head, { TRACK: 'listed' })
  const asked = async (number: number): Promise<Asked> => counted.at((await blockAt(number)).hash)
  for (const { family, events, reads, block: number } of spam) {
    const [with_, without] = [await asked(number), await asked(number + 1)]
    const [rows, base] = [await rowsAt(clickhouse, number), await rowsAt(clickhouse, number + 1)]
    const bound = BOUNDS[family]
    // A state that is read is one of the rows.
    const most = {
      calls: bound.calls * reads,
      rows: bound.calls === 0 ? bound.rows * events : (bound.rows - 1) * events + reads,
    }
    expect(with_.calls - without.calls, family).toBeLessThanOrEqual(most.calls)
    expect(rows.rows - base.rows, family).toBeLessThanOrEqual(most.rows)
    if (bound.rows > 0) expect(rows.rows - base.rows, family).toBeGreaterThanOrEqual(events)
    // None of the tokens is sampled.
    expect(rows.samples).toBe(base.samples)
  }
  await counted.close()

  const texts = await clickhouse.query({
    query: `SELECT [length(symbol), length(name), length(currency)]::Array(UInt32) AS characters, truncated FROM stablecoins WHERE stable = '${junk}'`,
    format: 'JSONEachRow',
  })
  expect(await texts.json()).toEqual([{ characters: [64, 256, 3], truncated: ['symbol', 'name'] }])
})
