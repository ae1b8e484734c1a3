import type { ClickHouseClient } from '@clickhouse/client'
import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { FIRST_TRADING_BLOCK } from '../../../../local/chain/clock.js'
import { createRpc, type Rpc } from '../../../../local/chain/rpc.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

const PATH_USD = Addresses.pathUsd
const SIZES = [1_000, 10_000, 100_000, 1_000_000]
/** Seconds between blocks: three of them in a minute. */
const SPACING = 20
const BLOCKS = 150

let chain: TestChain
let node: Rpc

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: BLOCKS, blockSeconds: SPACING })
  node = createRpc(chain.rpcUrl)
})
afterAll(async () => {
  await chain?.remove()
})

type Side = Array<{ tick: bigint; base: bigint }>
type Book = { bids: Side; asks: Side }

/** Ticks with orders at any time: the ones to read, by base token and side. */
async function usedTicks(): Promise<Map<string, Set<string>>> {
  const logs = await node.call('eth_getLogs', [
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
  const answers = await node.batch(
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
  return BigInt((await node.call('eth_call', [{ to: stable, data }, numberToHex(block)])) as string) === 1n
}

/** Whether the setup of the market is complete: there is a book for every stable. */
const isTrading = (block: number): boolean => block >= FIRST_TRADING_BLOCK

const SAMPLES = `
  SELECT stable, size_tokens, toUInt32(block_number) AS block_number, toUnixTimestamp(block_time) AS block_time,
         sell_status, toString(sell_raw) AS sell_raw, buy_status, toString(buy_raw) AS buy_raw
  FROM depth_samples ORDER BY block_number, stable, size_tokens`

async function ingested(clickhouse: ClickHouseClient): Promise<DepthSample[]> {
  return (await clickhouse.query({ query: SAMPLES, format: 'JSONEachRow' })).json()
}

test('depth matches the books at the first block of every minute, for every size and quoted stable', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const samples = await ingested(clickhouse)

  const times = (await node.batch(
    Array.from({ length: BLOCKS + 1 }, (_, number) => ['eth_getBlockByNumber', [numberToHex(number), false]] as const),
  )) as Array<{ timestamp: string }>
  const minuteOf = times.map(({ timestamp }) => new Date(Number(timestamp) * 1000).toISOString().slice(0, 16))
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
  const expected: DepthSample[] = []
  for (const block_number of due.filter(isTrading)) {
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
          block_time: Number(times[block_number]?.timestamp),
          sell_status: isPaused ? 'paused' : sell === null ? 'no_liquidity' : 'quoted',
          sell_raw: isPaused ? null : (sell?.toString() ?? null),
          buy_status: buy === null ? 'no_liquidity' : 'quoted',
          buy_raw: buy?.toString() ?? null,
        })
      }
    }
  }
  expect(samples.filter((sample) => isTrading(sample.block_number))).toEqual(expected)

  // Every kind occurs.
  const kinds = new Set(samples.map(({ sell_status, buy_status }) => `${sell_status} ${buy_status}`))
  for (const kind of ['quoted quoted', 'no_liquidity quoted', 'paused quoted', 'no_pair no_pair'])
    expect(kinds).toContain(kind)
})
