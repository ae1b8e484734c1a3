import type { ClickHouseClient } from '@clickhouse/client'
import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, pad, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { test as base, expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { rulesAt } from '../../../../clickhouse/exchange/rules.js'
import { snapshotOf } from '../../../../clickhouse/exchange/snapshots.js'
import { storedBooks } from '../../../../clickhouse/exchange/stored-books.js'
import type { FactTable } from '../../../../clickhouse/facts/facts.js'
import { FIRST_TRADING_BLOCK, SETUP } from '../../../../local/chain/clock.js'
import { createRpc, type Rpc } from '../../../../local/chain/rpc.js'
import { useStillChain } from '../../../support/chain.js'
import { compareQuotes } from '../../../support/exchange-replay.js'
import { factRows } from '../../../support/fact-rows.js'
import { ingestAll } from '../../../support/ingest.js'
import { withDatabase } from '../../../support/services.js'
import { netOf, signedSwaps } from '../../../support/signed-swaps.js'

const BLOCKS = 240
/** Seconds between blocks: three of them in a minute. */
const SPACING = 20
const PATH_USD = Addresses.pathUsd
/** The sizes of depth, in tokens. */
const SIZES = [1_000, 10_000, 100_000, 1_000_000]

const chain = useStillChain({ historyBlocks: BLOCKS, blockSeconds: SPACING })

/** Tests of one market that is taken in once; each compares what is stored of it with what the node says. */
const test = base.extend<{ clickhouse: ClickHouseClient }>({
  clickhouse: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) =>
      withDatabase(async (env, clickhouse) => {
        await ingestAll(env, clickhouse, chain.rpcUrl, chain.head)
        await use(clickhouse)
      }),
    { scope: 'file' },
  ],
})

const node = (): Rpc => createRpc(chain.rpcUrl)

async function rowsOf<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()
}

type SwapFlow = {
  tx_hash: string
  account: string
  from_token: string
  to_token: string
  amount_in_raw: string
  amount_out_raw: string
  path: string[]
}

test('every swap reconstructed from logs is the swap that its sender signed, and none is missing', async ({
  clickhouse,
}) => {
  const flows = await rowsOf<SwapFlow>(
    clickhouse,
    `SELECT tx_hash, account, from_token, to_token, toString(amount_in_raw) AS amount_in_raw, toString(amount_out_raw) AS amount_out_raw, path
     FROM flows WHERE kind = 'swap' ORDER BY block_number, log_index`,
  )
  const rebuilt = new Map<string, SwapFlow[]>()
  for (const flow of flows) rebuilt.set(flow.tx_hash, [...(rebuilt.get(flow.tx_hash) ?? []), flow])

  const signed = await signedSwaps(chain)
  const single = [...signed].filter(([, { calls }]) => calls.length === 1)
  const asSigned = single.map(([hash, { calls, trader }]) => [
    hash,
    calls.map(({ tokenIn, tokenOut, exact, amount }) => ({ trader, tokenIn, tokenOut, [exact]: amount.toString() })),
  ])
  const asRebuilt = single.map(([hash, { calls }]) => [
    hash,
    (rebuilt.get(hash) ?? []).map((flow, i) => ({
      trader: flow.account,
      tokenIn: flow.from_token,
      tokenOut: flow.to_token,
      ...(calls[i]?.exact === 'in' ? { in: flow.amount_in_raw } : { out: flow.amount_out_raw }),
    })),
  ])
  expect(asRebuilt).toEqual(asSigned)
  expect([...rebuilt.keys()].filter((hash) => !signed.has(hash))).toEqual([])

  // What each transaction's flows gave and got is what its trader's balances lost and gained, to the base unit.
  const flowed = [...signed.keys()].map((hash) => [
    hash,
    netOf(
      (rebuilt.get(hash) ?? []).flatMap((flow) => [
        [flow.from_token, -BigInt(flow.amount_in_raw)] as const,
        [flow.to_token, BigInt(flow.amount_out_raw)] as const,
      ]),
    ),
  ])
  expect(flowed).toEqual([...signed].map(([hash, { net }]) => [hash, net]))

  // The market has every kind: one to three hops, each exact in and exact out, and two swaps in one transaction.
  const kinds = new Set(
    single.map(([hash, { calls }]) => `${(rebuilt.get(hash)?.[0]?.path.length ?? 0) - 1} ${calls[0]?.exact}`),
  )
  expect([...kinds].sort()).toEqual(['1 in', '1 out', '2 in', '2 out', '3 in', '3 out'])
  expect([...signed.values()].some(({ calls }) => calls.length === 2)).toBe(true)
})

/** Every log of the DEX on the chain, as viem reads it. */
async function logsOfDex() {
  const filter = { address: Addresses.stablecoinDex, fromBlock: numberToHex(1), toBlock: numberToHex(chain.head) }
  const logs = await node().call('eth_getLogs', [filter])
  return parseEventLogs({ abi: Abis.stablecoinDex, logs: logs as never })
}

const FORKS = (process.env.LOCAL_FORK === 'T12' ? ['T3', 'T5', 'T12'] : ['T3']).map((name) => ({
  ...{ name, activation_time: 0 },
}))

test('books rebuilt from logs alone quote what the exchange does, to the base unit, and refuse what it refuses', async ({
  clickhouse,
}) => {
  const rules = rulesAt(FORKS, 0)
  const compares = (block: number): boolean => block <= FIRST_TRADING_BLOCK || block % 8 === 0
  const { asked, answers, differences, books } = await compareQuotes(node(), chain.head, { rules, compares })
  expect(differences.slice(0, 5)).toEqual([])
  expect([...books.contradictions]).toEqual([])
  expect(asked).toBeGreaterThan(10_000)
  for (const status of ['quoted', 'no_liquidity', 'no_pair', 'paused', 'overflow'])
    expect([...answers.keys()]).toContain(status)
  const { block, ...stored } = snapshotOf(await storedBooks(clickhouse, { to: chain.head }, FORKS))
  expect({ ...stored, block: chain.head }).toEqual(snapshotOf(books))
})

const lower = <Value>(value: Value): Value => (typeof value === 'string' ? value.toLowerCase() : value) as Value

test('fills, cancellations and pairs are those of the chain, with the terms of their orders', async ({
  clickhouse,
}) => {
  const rows = (query: string) => rowsOf(clickhouse, query)
  const logs = await logsOfDex()
  const placed = new Map(
    logs.flatMap((log) => (log.eventName === 'OrderPlaced' ? [[log.args.orderId, log.args] as const] : [])),
  )

  const filled = logs.flatMap(({ eventName, args, transactionHash }) => {
    if (eventName !== 'OrderFilled') return []
    const { token, isBid, tick } = placed.get(args.orderId) ?? { token: '', isBid: null, tick: null }
    return {
      order_id: `${args.orderId}`,
      maker: lower(args.maker),
      taker: lower(args.taker),
      base: lower(token),
      is_bid: isBid,
      tick,
      base_raw: `${args.amountFilled}`,
      is_partial: args.partialFill,
      tx_hash: transactionHash,
    }
  })
  expect(filled.length).toBeGreaterThan(100)
  expect(
    await rows(`SELECT toString(order_id) AS order_id, maker, taker, base, is_bid, tick, toString(base_raw) AS base_raw, is_partial, tx_hash
                FROM dex_fills ORDER BY block_number, log_index`),
  ).toEqual(filled)

  const cancelled = logs.flatMap(({ eventName, args }) => (eventName === 'OrderCancelled' ? [`${args.orderId}`] : []))
  expect(cancelled.length).toBeGreaterThan(3)
  expect(
    await rows(
      `SELECT toString(order_id) AS order_id FROM exchange_events WHERE event = 'OrderCancelled' ORDER BY block_number, log_index`,
    ),
  ).toEqual(cancelled.map((order_id) => ({ order_id })))

  const pairs = logs.flatMap(({ eventName, args }) =>
    eventName === 'PairCreated' ? [{ base: lower(args.base), quote: lower(args.quote), pair_key: args.key }] : [],
  )
  expect(pairs.length).toBeGreaterThan(5)
  expect(await rows('SELECT base, quote, pair_key FROM dex_pairs ORDER BY block_number, log_index')).toEqual(pairs)

  // A trade over one book gives and gets what its fills do on balance: a batch may sell and buy some of it back.
  const odd = await rows(`
    WITH if(is_bid, base, quote) AS sold, toInt256(if(is_bid, base_raw, quote_raw)) AS paid, toInt256(if(is_bid, quote_raw, base_raw)) AS got
    SELECT tx_hash
    FROM flows
    INNER JOIN dex_fills USING tx_hash
    WHERE length(path) = 2 AND tx_hash IN (SELECT tx_hash FROM flows GROUP BY tx_hash HAVING count() = 1)
    GROUP BY tx_hash, from_token, amount_in_raw, amount_out_raw
    HAVING amount_in_raw != sum(if(sold = from_token, paid, -got)) OR amount_out_raw != sum(if(sold = from_token, got, -paid))`)
  expect(odd).toEqual([])
})

type ValuedFlow = {
  from_token: string
  to_token: string
  amount_in_raw: string
  amount_out_raw: string
  usd_micros: string | null
  block_number: number
}

/** The sell quote of one token at the end of a block in micro-units of pathUSD, read from the node; null if there is none. */
async function sellPrice(token: string, block: number): Promise<bigint | null> {
  if (token === PATH_USD) return 1_000_000n
  const data = encodeFunctionData({
    abi: Abis.stablecoinDex,
    functionName: 'quoteSwapExactAmountIn',
    args: [token as Hex, PATH_USD, 1_000_000n],
  })
  const call = { to: Addresses.stablecoinDex, data }
  // The exchange refuses where it cannot sell.
  return node()
    .call('eth_call', [call, numberToHex(block)])
    .then((result) => BigInt(result as Hex))
    .catch(() => null)
}

test('every flow between listed stables has the value of its lesser side at the prices of its block', async ({
  clickhouse,
}) => {
  const flows = await rowsOf<ValuedFlow>(
    clickhouse,
    `SELECT from_token, to_token, toString(amount_in_raw) AS amount_in_raw, toString(amount_out_raw) AS amount_out_raw,
            toString(usd_micros) AS usd_micros, toUInt32(block_number) AS block_number
     FROM flows WHERE kind = 'swap' ORDER BY block_number, log_index`,
  )
  const expected: ValuedFlow[] = []
  const lesser = { in: 0, out: 0 }
  for (const flow of flows) {
    const worth = async (token: string, raw: string): Promise<bigint | null> => {
      const price = await sellPrice(token, flow.block_number)
      return price === null ? null : (BigInt(raw) * price) / 1_000_000n
    }
    const given = await worth(flow.from_token, flow.amount_in_raw)
    const got = await worth(flow.to_token, flow.amount_out_raw)
    const isGiven = got === null || (given !== null && given < got)
    const value = isGiven ? given : got
    lesser[isGiven ? 'in' : 'out']++
    expected.push({ ...flow, usd_micros: value?.toString() ?? null })
  }
  expect(flows).toEqual(expected)
  // Both rules of it apply: neither side is always the lesser.
  expect(Math.min(lesser.in, lesser.out)).toBeGreaterThan(5)
})

/** The table of rows for each event of each contract. */
const KEPT: ReadonlyArray<[FactTable, readonly unknown[], (address: string) => boolean, string[]]> = [
  ['supply_events', Abis.tip20, isToken, ['Mint', 'Burn', 'BurnBlocked', 'BurnAt', 'SupplyCapUpdate']],
  ['transfers', Abis.tip20, isToken, ['Transfer']],
  ['role_events', Abis.tip20, isToken, ['RoleMembershipUpdated', 'RoleAdminUpdated']],
  ['pause_events', Abis.tip20, isToken, ['PauseStateUpdate']],
  ['policy_events', Abis.tip20, isToken, ['TransferPolicyUpdate']],
  [
    'policy_events',
    Abis.tip403Registry,
    is(Addresses.tip403Registry),
    [
      'PolicyCreated',
      'PolicyAdminUpdated',
      'WhitelistUpdated',
      'BlacklistUpdated',
      'CompoundPolicyCreated',
      'ReceivePolicyUpdated',
    ],
  ],
  ['reward_distributions', Abis.tip20, isToken, ['RewardDistributed']],
  ['reward_recipients', Abis.tip20, isToken, ['RewardRecipientSet']],
  ['fee_elections', Abis.feeManager, is(Addresses.feeManager), ['UserTokenSet', 'ValidatorTokenSet']],
  ['fee_distributions', Abis.feeManager, is(Addresses.feeManager), ['FeesDistributed']],
  ['fee_pool_events', Abis.feeAmm, is(Addresses.feeManager), ['Mint', 'Burn', 'RebalanceSwap']],
]

function is(contract: string) {
  return (address: string): boolean => address === contract.toLowerCase()
}
function isToken(address: string): boolean {
  return address.startsWith('0x20c0')
}

type Log = { address: string; topics: string[]; blockNumber: string; logIndex: string }

test('in a market with every kind of event, each of these logs is exactly one row', async ({ clickhouse }) => {
  const range = { fromBlock: numberToHex(1), toBlock: numberToHex(chain.head) }
  const logs = (await node().call('eth_getLogs', [range])) as Log[]

  const place = (log: Log): string => `${Number(log.blockNumber)} ${Number(log.logIndex)}`
  const expected = new Map<FactTable, Set<string>>()
  for (const [table, abi, emits, names] of KEPT) {
    const own = logs.filter(({ address }) => emits(address))
    const found = parseEventLogs({ abi: abi as never, eventName: names as never, logs: own as never }) as Log[]
    expected.set(table, new Set([...(expected.get(table) ?? []), ...found.map(place)]))
  }
  const claims = logs.filter(({ address, topics }) => isToken(address) && topics[1] === pad(address as `0x${string}`))
  expected.set('reward_claims', new Set(claims.map(place)))

  for (const [table, places] of expected) {
    const rows = await factRows(clickhouse, table)
    expect([table, rows.map((row) => `${row.block_number} ${row.log_index}`).sort()]).toEqual([
      table,
      [...places].sort(),
    ])
    // A market without one of the kinds would prove nothing about it.
    expect([table, places.size > 0]).toEqual([table, true])
  }
})

/** The time of each block from 0 on, in unix seconds. */
async function blockTimes(): Promise<number[]> {
  const blocks = await node().batch(
    Array.from({ length: BLOCKS + 1 }, (_, number) => ['eth_getBlockByNumber', [numberToHex(number), false]] as const),
  )
  return (blocks as { timestamp: string }[]).map(({ timestamp }) => Number(timestamp))
}

type Read = {
  stable: string
  block_number: number
  supply_raw: string
  cap_raw: string
  paused: boolean
  policy_id: string
  opted_in_raw: string
  reward_per_token_raw: string
}

/** The columns of a read, in order, with the token's function for each. */
const COLUMNS = {
  supply_raw: 'totalSupply',
  cap_raw: 'supplyCap',
  paused: 'paused',
  policy_id: 'transferPolicyId',
  opted_in_raw: 'optedInSupply',
  reward_per_token_raw: 'globalRewardPerToken',
} as const

/** The tokens' values at the blocks of the reads, requested one by one. */
async function askedAgain(reads: readonly Read[]): Promise<Read[]> {
  const columns = Object.entries(COLUMNS)
  const again: Read[] = []
  for (const { stable, block_number } of reads) {
    const answers = await node().batch(
      columns.map(([, functionName]) => {
        const data = encodeFunctionData({ abi: Abis.tip20, functionName })
        return ['eth_call', [{ to: stable, data }, numberToHex(block_number)]] as const
      }),
    )
    const values = columns.map(([column, functionName], i) => {
      const value = decodeFunctionResult({ abi: Abis.tip20, functionName, data: answers[i] as Hex })
      return [column, typeof value === 'boolean' ? value : value.toString()]
    })
    again.push({ stable, block_number, ...Object.fromEntries(values) } as Read)
  }
  return again
}

test('states are read at each five-minute mark and where events change them, rewards included', async ({
  clickhouse,
}) => {
  const reads = await rowsOf<Read>(
    clickhouse,
    `SELECT stable, toUInt32(block_number) AS block_number, toString(supply_raw) AS supply_raw, toString(cap_raw) AS cap_raw,
            paused, toString(policy_id) AS policy_id, toString(opted_in_raw) AS opted_in_raw,
            toString(reward_per_token_raw) AS reward_per_token_raw
     FROM state_reads ORDER BY block_number, stable`,
  )
  expect(reads).toEqual(await askedAgain(reads))

  const times = await blockTimes()
  const marks = Array.from({ length: BLOCKS }, (_, i) => (Math.ceil((times[0] as number) / 300) + i) * 300)
  const due = new Set(marks.map((mark) => times.findIndex((time) => time >= mark)).filter((number) => number > 0))
  expect(due.size).toBeGreaterThan((BLOCKS * SPACING) / 300 - 2)
  const all = ['pathUSD', ...chain.plan.tokens.map(({ symbol }) => symbol)].length
  for (const number of due)
    expect([number, reads.filter((read) => read.block_number === number).length]).toEqual([number, all])

  // It is never issued, so no event of its own triggers a read, and the policies that the setup creates are not its own.
  const quiet = chain.plan.tokens.find(({ symbol }) => symbol === 'AlphaUSD')?.address as string
  expect(
    reads.flatMap(({ stable, block_number }) => (stable === quiet && block_number > 1 ? [block_number] : [])),
  ).toEqual([...due].filter((number) => number > 1).sort((a, b) => a - b))

  const rewarded = reads.filter(({ stable }) => stable === chain.plan.stable('BWUSD').address)
  const paid = rewarded.map(({ reward_per_token_raw }) => BigInt(reward_per_token_raw))
  expect(paid).toEqual(paid.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  expect(new Set(paid).size).toBeGreaterThan(1)
  // It changes with transfers of opted-in holders, which emit no event about it.
  const silent = rewarded.filter((read, i) => {
    const before = rewarded[i - 1]
    return before && read.supply_raw === before.supply_raw && read.opted_in_raw !== before.opted_in_raw
  })
  expect(silent.length).toBeGreaterThan(0)
})

type Side = Array<{ tick: bigint; base: bigint }>
type Book = { bids: Side; asks: Side }

/** Ticks with orders at any time: the ones to read, by base token and side. */
async function usedTicks(): Promise<Map<string, Set<string>>> {
  const logs = await node().call('eth_getLogs', [
    { fromBlock: '0x1', toBlock: numberToHex(BLOCKS), address: Addresses.stablecoinDex },
  ])
  const used = new Map<string, Set<string>>()
  for (const { args } of parseEventLogs({
    abi: Abis.stablecoinDex,
    logs: logs as never,
    eventName: 'OrderPlaced',
  })) {
    const token = args.token.toLowerCase()
    used.set(token, (used.get(token) ?? new Set()).add(`${args.tick} ${args.isBid}`))
  }
  return used
}

/** The order books at the end of a block as the DEX lists them, level by level, best first. */
async function readBooks(used: Map<string, Set<string>>, block: number): Promise<Map<string, Book>> {
  const levels = [...used].flatMap(([token, ticks]) =>
    [...ticks].map((key) => {
      const [tick, isBid] = key.split(' ')
      return { token, tick: Number(tick), isBid: isBid === 'true' }
    }),
  )
  const answers = await node().batch(
    levels.map(({ token, tick, isBid }) => {
      const data = encodeFunctionData({
        abi: Abis.stablecoinDex,
        functionName: 'getTickLevel',
        args: [token as Hex, tick, isBid],
      })
      return ['eth_call', [{ to: Addresses.stablecoinDex, data }, numberToHex(block)]] as const
    }),
  )
  const books = new Map<string, Book>([...used.keys()].map((token) => [token, { bids: [], asks: [] }]))
  levels.forEach(({ token, tick, isBid }, i) => {
    const [, , base] = decodeFunctionResult({
      abi: Abis.stablecoinDex,
      functionName: 'getTickLevel',
      data: answers[i] as Hex,
    })
    if (base > 0n) books.get(token)?.[isBid ? 'bids' : 'asks'].push({ tick: BigInt(tick), base })
  })
  for (const { bids, asks } of books.values()) {
    bids.sort((a, b) => Number(b.tick - a.tick))
    asks.sort((a, b) => Number(a.tick - b.tick))
  }
  return books
}

/**
 * Quote tokens for `base` of a side's base tokens, with `round` up or down at each level; null if there are too few.
 */
function walk(side: Side, base: bigint, round: 'up' | 'down'): bigint | null {
  let left = base
  let value = 0n
  for (const level of side) {
    const isLast = level.base >= left
    const taken = isLast ? left : level.base
    value += (taken * (100_000n + level.tick) + (round === 'up' ? 99_999n : 0n)) / 100_000n
    if (isLast) return value
    left -= taken
  }
  return null
}

/** Whether a stable's transfers are paused at the end of a block, so that nobody can sell it. */
async function paused(stable: string, block: number): Promise<boolean> {
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'paused' })
  return BigInt((await node().call('eth_call', [{ to: stable, data }, numberToHex(block)])) as string) === 1n
}

/** Whether the setup of the market is complete: there is a book for every stable. */
const isTrading = (block: number): boolean => block >= FIRST_TRADING_BLOCK

const SAMPLES = `
  SELECT stable, size_tokens, toUInt32(block_number) AS block_number, toUnixTimestamp(block_time) AS block_time,
         sell_status, toString(sell_raw) AS sell_raw, buy_status, toString(buy_raw) AS buy_raw
  FROM depth_samples ORDER BY block_number, stable, size_tokens`

test('depth matches the books at the first block of every minute, for every size and quoted stable', async ({
  clickhouse,
}) => {
  const samples = await rowsOf<DepthSample>(clickhouse, SAMPLES)

  const times = await blockTimes()
  const minuteOf = times.map((time) => Math.floor(time / 60))
  const due = minuteOf.flatMap((minute, number) => (number > 0 && minute !== minuteOf[number - 1] ? [number] : []))
  expect(due.length).toBeGreaterThan(BLOCKS / 3 - 2)
  expect([...new Set(samples.map(({ block_number }) => block_number))]).toEqual(due)

  const used = await usedTicks()
  // Stables that others are quoted in, by stable; all of them are created in the first block.
  const quoteOf = new Map(
    chain.plan.tokens.map(({ address, quote }) => [
      address as string,
      chain.plan.tokens.find(({ symbol }) => symbol === quote)?.address ?? PATH_USD,
    ]),
  )
  const usd = [...quoteOf.keys()].filter((address) =>
    chain.plan.stables.every((stable) => stable.address !== address || stable.currency === 'USD'),
  )
  // To read all levels of all books takes a while.
  const compared = due.filter(isTrading).filter((_, i) => i % 2 === 0)
  const expected: DepthSample[] = []
  for (const block_number of compared) {
    const books = await readBooks(used, block_number)
    for (const stable of usd.toSorted()) {
      const isPaused = await paused(stable, block_number)
      for (const size_tokens of SIZES) {
        const through = (side: 'bids' | 'asks', from: string, amount: bigint | null): bigint | null => {
          if (amount === null || from === PATH_USD) return amount
          const quoted = walk(books.get(from)?.[side] ?? [], amount, side === 'bids' ? 'down' : 'up')
          return through(side, quoteOf.get(from) as string, quoted)
        }
        const size = BigInt(size_tokens) * 10n ** 6n
        const [sell, buy] = [through('bids', stable, size), through('asks', stable, size)]
        expected.push({
          stable,
          size_tokens,
          block_number,
          block_time: times[block_number] as number,
          sell_status: isPaused ? 'paused' : sell === null ? 'no_liquidity' : 'quoted',
          sell_raw: isPaused ? null : (sell?.toString() ?? null),
          buy_status: buy === null ? 'no_liquidity' : 'quoted',
          buy_raw: buy?.toString() ?? null,
        })
      }
    }
  }
  expect(samples.filter((sample) => compared.includes(sample.block_number))).toEqual(expected)

  // Every kind occurs.
  const kinds = new Set(samples.map(({ sell_status, buy_status }) => `${sell_status} ${buy_status}`))
  const isBeforeBooks = due.some((block) => block < SETUP.books)
  for (const kind of [
    'quoted quoted',
    'no_liquidity quoted',
    'paused quoted',
    ...(isBeforeBooks ? ['no_pair no_pair'] : []),
  ])
    expect(kinds).toContain(kind)
})
