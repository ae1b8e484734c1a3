import type { ClickHouseClient } from '@clickhouse/client'
import { encodeFunctionData, type Hex, keccak256, numberToHex, parseEventLogs, toEventSelector, toHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { EXCHANGE_LOGS } from '../../../../clickhouse/exchange/events.js'
import { READ_EVENTS } from '../../../../ingest/chain/events.js'
import { randomFor } from '../../../../local/chain/random.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { test } from '../../../support/app.js'
import { type T12Chain, t12Chain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { ingestAll } from '../../../support/ingest.js'
import { netOf, signedSwaps } from '../../../support/signed-swaps.js'
import type { T12Block } from '../../../support/t12/blocks.js'
import { keyOf, type Ledger } from '../../../support/t12/ledger.js'
import { mismatches, runVerify } from '../../../support/verify.js'

/** Of what the actors do; each fourth has another market, too. */
const SEEDS = depth('T12_SEEDS', 4, 20)
const BLOCKS = 60
const PATH_USD = Addresses.pathUsd
const MINT = toEventSelector('Mint(address,uint256)')

type Sums = Map<string, bigint>
const sorted = (sums: ReadonlyMap<string, bigint>): Array<[string, string]> =>
  [...sums]
    .filter(([, sum]) => sum !== 0n)
    .map(([key, sum]): [string, string] => [key, `${sum}`])
    .sort()

async function rowsOf<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()
}
async function sumsOf(clickhouse: ClickHouseClient, query: string): Promise<Array<[string, string]>> {
  const rows = await rowsOf<{ key: string; sum: string }>(clickhouse, query)
  return rows.map(({ key, sum }): [string, string] => [key, sum]).sort()
}

type View = { token: string; data: Hex; block: number }
/** What the local chain's own node says of tokens at a block; 0 of one that did not exist. */
async function localState({ localUrl }: T12Chain, views: readonly View[]): Promise<bigint[]> {
  const calls = views.map(({ token, data, block }) => ['eth_call', [{ to: token, data }, numberToHex(block)]] as const)
  const answers = await createRpc(localUrl).attempt(calls)
  return answers.map((answer) => ('result' in answer ? BigInt(answer.result as Hex) : 0n))
}

/** What changes supplies on the local chain, as its logs say, by kind and token. */
async function localIssuance({ localUrl, head }: T12Chain): Promise<Sums> {
  const range = { fromBlock: '0x0', toBlock: numberToHex(head) }
  const logs = (await createRpc(localUrl).call('eth_getLogs', [range])) as Array<{ address: string }>
  const own = logs.filter(({ address }) => address.startsWith('0x20c0'))
  const kinds = { Mint: 'mint', Burn: 'burn', BurnBlocked: 'burn_blocked' } as const
  const sums: Sums = new Map()
  for (const { eventName, address, args } of parseEventLogs({
    ...{ abi: Abis.tip20, eventName: ['Mint', 'Burn', 'BurnBlocked'], logs: own as never },
  })) {
    const key = keyOf(kinds[eventName], address)
    sums.set(key, (sums.get(key) ?? 0n) + args.amount)
  }
  return sums
}

const plus = (sums: ReadonlyMap<string, bigint>, others: ReadonlyMap<string, bigint>): Sums => {
  const total = new Map(sums)
  for (const [key, amount] of others) total.set(key, (total.get(key) ?? 0n) + amount)
  return total
}

/** Every supply that was read is that of its block, and every change of one was read. */
async function expectSupplies(chain: T12Chain, clickhouse: ClickHouseClient): Promise<void> {
  const rows = await rowsOf<{ token: string; block: number; supply: string }>(
    clickhouse,
    `SELECT stable AS token, toUInt32(block_number) AS block, toString(supply_raw) AS supply
     FROM state_reads ORDER BY block_number, stable`,
  )
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'totalSupply' })
  const blocks = await chain.blocks()
  const local = await localState(
    chain,
    rows.map(({ token, block }) => ({ token, data, block })),
  )
  const expected = rows.map(({ token, block }, i) => {
    const made = blocks[block]?.ledger.supplies.get(token) ?? 0n
    return { token, block, supply: `${(local[i] as bigint) + made}` }
  })
  expect(rows).toEqual(expected)

  const read = new Set(rows.map(({ token, block }) => `${block} ${token}`))
  const changes = blocks.flatMap(({ number, ledger }) =>
    [...ledger.supplies]
      .filter(([token, made]) => made !== (blocks[number - 1]?.ledger.supplies.get(token) ?? 0n))
      .map(([token]) => `${number} ${token}`),
  )
  expect(changes.length).toBeGreaterThan(10)
  expect(changes.filter((change) => !read.has(change))).toEqual([])
}

/** What each account has of each token; of those that are in the genesis block, what it has more than there. */
async function expectHoldings(chain: T12Chain, clickhouse: ClickHouseClient, ledger: Ledger): Promise<void> {
  const stored = await sumsOf(
    clickhouse,
    `SELECT concat(stable, ' ', account) AS key, toString(sum(amount)) AS sum FROM (
       SELECT stable, sender AS account, -toInt256(amount_raw) AS amount FROM transfers
       UNION ALL SELECT stable, recipient, toInt256(amount_raw) FROM transfers
     ) WHERE account != '0x${'0'.repeat(40)}' GROUP BY key`,
  )
  const keys = [...new Set([...stored.map(([key]) => key), ...ledger.balances.keys()])]
  const viewsAt = (block: number): View[] =>
    keys.map((key) => {
      const [token, account] = key.split(' ') as [string, Hex]
      return { token, data: encodeFunctionData({ abi: Abis.tip20, functionName: 'balanceOf', args: [account] }), block }
    })
  const [last, first] = [await localState(chain, viewsAt(chain.head)), await localState(chain, viewsAt(0))]
  const local = new Map(keys.map((key, i) => [key, (last[i] as bigint) - (first[i] as bigint)]))
  expect(stored.filter(([, sum]) => sum !== '0')).toEqual(sorted(plus(local, ledger.balances)))
  expect(keys.length).toBeGreaterThan(50)
}

/** Swaps are those that were signed, and what crossed a bridge for an actor is what the ledger has. */
async function expectFlows(chain: T12Chain, clickhouse: ClickHouseClient, ledger: Ledger): Promise<void> {
  type Flow = {
    tx_hash: string
    kind: string
    account: string
    from_token: string
    to_token: string
    paid: string
    got: string
  }
  const flows = await rowsOf<Flow>(
    clickhouse,
    `SELECT tx_hash, kind, account, from_token, to_token, toString(amount_in_raw) AS paid, toString(amount_out_raw) AS got
     FROM flows ORDER BY block_number, log_index`,
  )
  const swapped = (hash: string) =>
    netOf(
      flows
        .filter(({ kind, tx_hash }) => kind === 'swap' && tx_hash === hash)
        .flatMap(({ from_token, to_token, paid, got }) => [
          [from_token, -BigInt(paid)] as const,
          [to_token, BigInt(got)] as const,
        ]),
    )
  const signed = await signedSwaps(chain)
  expect(signed.size).toBeGreaterThan(3)
  expect([...signed.keys()].map((hash) => [hash, swapped(hash)])).toEqual(
    [...signed].map(([hash, { net }]) => [hash, net]),
  )

  const crossed = ledger.crossings.map(({ token, account, isOut, sent, received }) => ({
    ...{ account, from_token: isOut ? token : '', to_token: isOut ? '' : token, paid: `${sent}`, got: `${received}` },
  }))
  const own = new Set(crossed.map(({ account }) => account))
  expect(
    flows
      .filter(({ kind, account }) => kind === 'bridge' && own.has(account))
      .map(({ tx_hash: _, kind: __, ...flow }) => flow),
  ).toEqual(crossed)
}

/** What was minted and burned of each token, by kind. */
async function expectIssuance(chain: T12Chain, clickhouse: ClickHouseClient, ledger: Ledger): Promise<void> {
  const stored = await sumsOf(
    clickhouse,
    `SELECT concat(toString(kind), ' ', stable) AS key, toString(sum(amount_raw)) AS sum FROM supply_events
     WHERE kind != 'cap' AND amount_raw > 0 GROUP BY key`,
  )
  expect(stored).toEqual(sorted(plus(await localIssuance(chain), ledger.issued)))
}

/** Who holds which role, of the roles that actors gave and took. */
async function expectRoles(clickhouse: ClickHouseClient, ledger: Ledger): Promise<void> {
  const stored = await sumsOf(
    clickhouse,
    `SELECT concat(stable, ' ', account, ' ', role) AS key, if(argMax(kind, (block_number, log_index)) = 'granted', '1', '0') AS sum
     FROM role_events WHERE kind != 'admin' GROUP BY key`,
  )
  const made = stored.filter(([key]) => ledger.roles.has(key))
  expect(made).toEqual([...ledger.roles].map(([key, isHeld]): [string, string] => [key, isHeld ? '1' : '0']).sort())
}

type Placed = { blockNumber: string; logIndex: string; topics: string[] }

/** The events of a chain by the table that has a row for each of them. */
const TABLES = {
  held_transfers: ['TransferBlocked', 'ReceiptClaimed', 'ReceiptBurned'],
  dex_order_flips: ['OrderFlipped'],
  exchange_events: EXCHANGE_LOGS,
  logo_updates: ['LogoURIUpdated'],
  role_events: ['RoleMembershipUpdated', 'RoleAdminUpdated'],
  policy_events: [
    ...['PolicyCreated', 'PolicyAdminUpdated', 'WhitelistUpdated', 'BlacklistUpdated', 'CompoundPolicyCreated'],
    ...['TransferPolicyUpdate', 'ReceivePolicyUpdated'],
  ],
}

/** Every log of these events is a row, and nothing else is. Returns all logs. */
async function expectRows(chain: T12Chain, clickhouse: ClickHouseClient): Promise<Placed[]> {
  const logs: Placed[] = []
  for (const block of await chain.blocks()) logs.push(...(block.logs as never[]))
  const abi = [
    ...Abis.tip20,
    ...Abis.tip20Factory,
    ...Abis.stablecoinDex,
    ...Abis.tip403Registry,
    ...Abis.receivePolicyGuard,
  ]
  const events = parseEventLogs({ abi: abi as never, logs: logs as never }) as unknown as Array<
    Placed & { eventName: string }
  >
  for (const [table, names] of Object.entries(TABLES)) {
    const places = events
      .filter(({ eventName }) => (names as readonly string[]).includes(eventName))
      .map((log) => `${Number(log.blockNumber)} ${Number(log.logIndex)}`)
    const rows = await rowsOf<{ place: string }>(
      clickhouse,
      `SELECT concat(toString(block_number), ' ', toString(log_index)) AS place FROM ${table} ORDER BY block_number, log_index`,
    )
    expect([table, rows.map(({ place }) => place)]).toEqual([table, places])
  }
  return logs
}

const topicsSeen = new Set<string>()

for (let seed = 1; seed <= SEEDS; seed++)
  test(`a market of today’s chain is taken in as its ledger has it: seed ${seed}`, async ({
    clickhouse,
    clickhouseEnv,
  }) => {
    const blocksASecond = (1 + (seed % 3)) as 1 | 2 | 3
    const chain = await t12Chain({ seed: seed % 4, historyBlocks: BLOCKS, actions: seed, blocksASecond })
    try {
      await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
      const { ledger } = (await chain.blocks()).at(-1) as T12Block
      await expectSupplies(chain, clickhouse)
      await expectIssuance(chain, clickhouse, ledger)
      await expectHoldings(chain, clickhouse, ledger)
      await expectFlows(chain, clickhouse, ledger)
      await expectRoles(clickhouse, ledger)
      for (const { topics } of await expectRows(chain, clickhouse)) topicsSeen.add(topics[0] ?? '')
    } finally {
      await chain.remove()
    }
  }, 60_000)

test('these markets have every event that ingest reads', () => {
  const missing = READ_EVENTS.filter((event) => !topicsSeen.has(toEventSelector(event)))
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the API says what the ledger has, and verify finds no difference', async ({
  app,
  clickhouse,
  clickhouseEnv,
  clock,
}) => {
  const chain = await t12Chain({ seed: 1, historyBlocks: BLOCKS, actions: 21, blocksASecond: 3 })
  try {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const { ledger, time } = (await chain.blocks()).at(-1) as T12Block
    clock.now = new Date(time + 2000)
    const issued = plus(await localIssuance(chain), ledger.issued)
    const sumOf = (token: string, ...kinds: string[]): string =>
      `${kinds.reduce((sum, kind) => sum + (issued.get(keyOf(kind, token)) ?? 0n), 0n)}`
    // Of those of the genesis block, some supply and roles were there before.
    const tokens = [...ledger.supplies.keys()].filter((token) => !/^0x20c0+[0-3]$/.test(token))
    expect(tokens.length).toBeGreaterThan(1)
    for (const token of tokens) {
      const ask = async (what: string) => (await app.inject(`/api/v1/stablecoins/${token}${what}`)).json()
      const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'totalSupply' })
      const [local = 0n] = await localState(chain, [{ token, data, block: chain.head }])
      const supply = `${local + (ledger.supplies.get(token) ?? 0n)}`
      expect((await ask('')).supply.current).toBe(supply)
      const [minted, burned] = [sumOf(token, 'mint'), sumOf(token, 'burn', 'burn_blocked', 'burn_at')]
      expect((await ask('/issuance')).windows.at(-1)).toMatchObject({
        ...{ minted, burned, net_issuance: supply, coverage: { status: 'complete' } },
      })
      const holders = await ask('/holders?limit=100')
      expect(holders).toMatchObject({ supply, coverage: { status: 'complete' } })
      const inHand = new Map<string, string>(
        holders.top_holders.map(({ address, balance }: { address: string; balance: string }) => [address, balance]),
      )
      for (const [key, balance] of ledger.balances) {
        const [of, account = ''] = key.split(' ')
        if (of === token && !account.startsWith('0xfeec')) expect(inHand.get(account) ?? '0').toBe(`${balance}`)
      }
      const { roles } = (await ask('/roles')) as { roles: Array<{ role: string; account: string }> }
      const held = roles.map(({ role, account }) => keyOf(token, account, keccak256(toHex(role))))
      for (const [key, isHeld] of ledger.roles) if (key.startsWith(token)) expect(held.includes(key)).toBe(isHeld)
    }
    const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl)
    expect([mismatches(output), code]).toEqual([[], 0])
  } finally {
    await chain.remove()
  }
}, 120_000)

const RESERVE = Addresses.tip20ChannelReserve.toLowerCase()
/** Contracts of the chain by what they are to it, without the tokens. */
const CONTRACTS: Record<string, string> = {
  exchange: Addresses.stablecoinDex,
  policies: Addresses.tip403Registry,
  factory: Addresses.tip20Factory,
  fees: Addresses.feeManager,
  guard: Addresses.receivePolicyGuard,
  channels: RESERVE,
  zones: Addresses.zonePortal(7),
  keychain: Addresses.accountKeychain,
}
/** Answers, and the contracts of which an event may change them; `own` is the stable that they are about. */
const ANSWERS: ReadonlyArray<[path: string, contracts: readonly string[]]> = [
  ['/peg', ['exchange']],
  ['/issuance', ['own']],
  ['/rewards', ['own']],
  ['/roles', ['own', 'factory']],
  ['/holders', ['own', 'guard', 'channels']],
  ['', ['own', 'exchange', 'policies']],
]
const OF_ALL: ReadonlyArray<[path: string, contracts: readonly string[]]> = [
  ['stablecoins/flows', ['token', 'exchange', 'zones']],
  ['fee-economics/overview', ['fees', 'token']],
]

for (let seed = 1; seed <= Math.max(3, SEEDS / 2); seed++)
  test(`events that nobody knows stop nothing, and make all answers partial that they may change, and no other: seed ${seed}`, async ({
    app,
    clickhouse,
    clickhouseEnv,
    clock,
  }) => {
    const chain = await t12Chain({ seed, historyBlocks: BLOCKS })
    try {
      const random = randomFor(seed, 'unknown events')
      const injected = new Set<string>()
      const inject = (what: string, address: string): void => {
        if (!random.chance(0.4)) return
        injected.add(what)
        const topic = random.pick([keccak256(toHex('EventOfT13(uint256)')), ...(what === 'token' ? [MINT] : [])])
        chain.inject({ block: random.int(20, BLOCKS), address, topics: [topic], data: '0x01' })
      }
      inject('token', PATH_USD)
      for (const [what, address] of Object.entries(CONTRACTS)) inject(what, address)
      await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
      expect(await rowsOf(clickhouse, 'SELECT toUInt32(max(block_number)) AS head FROM blocks')).toEqual([
        { head: chain.head },
      ])
      clock.now = new Date(((await chain.blocks()).at(-1) as T12Block).time + 2000)
      const isPartial = async (path: string): Promise<boolean> => {
        const { coverage } = (await app.inject(`/api/v1/${path}`)).json()
        const isUnknown = coverage.missing.some(({ reason }: { reason: string }) => reason === 'unknown_event')
        if (isUnknown) expect([path, coverage.status]).not.toEqual([path, 'complete'])
        return isUnknown
      }
      const { stablecoins } = (await app.inject('/api/v1/stablecoins')).json()
      const other = stablecoins.find(({ address }: { address: string }) => address !== PATH_USD).address
      for (const [path, contracts] of OF_ALL)
        expect([path, await isPartial(path)]).toEqual([path, contracts.some((what) => injected.has(what))])
      for (const stable of [PATH_USD, other])
        for (const [part, contracts] of ANSWERS) {
          const path = `stablecoins/${stable}${part}`
          const isAffected = contracts.some((what) =>
            what === 'own' ? stable === PATH_USD && injected.has('token') : injected.has(what),
          )
          expect([path, await isPartial(path)]).toEqual([path, isAffected])
        }
      expect((await app.inject('/api/v1/status')).json().unknown_events.count).toBe(injected.size)
      await expect
        .poll(() => rowsOf(clickhouse, 'SELECT active, length(unhandled) AS others FROM chain_forks'), {
          timeout: 10_000,
        })
        .toEqual([{ active: 'T12', others: '0' }])
    } finally {
      await chain.remove()
    }
  }, 60_000)
