import { type Address, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { Quantity } from '../../../../ingest/chain/rpc-answers.js'
import { readDepths } from '../../../../ingest/sources/quotes.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { call } from '../../../../local/chain/calls.js'
import { test } from '../../../support/bare-chain.js'
import { type OwnChain, ownChain, resumeChain } from '../../../support/own-chain.js'
import { blockIdOf, rpcOf } from '../../../support/rpc.js'

const ALPHA = '0x20c0000000000000000000000000000000000001'
const PATH_USD = Addresses.pathUsd
const TOKEN = 10n ** 6n

test('depth is the result of a swap of that size, and a size beyond the book has no quote', async ({ bareChain }) => {
  const chain = await bareChain()
  const { maker, traders } = accounts
  const [seller, buyer] = traders
  const order = (thousands: bigint, isBid: boolean, tick: number) =>
    call.place(ALPHA, { amount: thousands * 1000n * TOKEN, isBid, tick })
  const approvals = [call.approveDex(PATH_USD), call.approveDex(ALPHA)]
  await chain.mine([
    {
      label: 'open a book',
      from: maker,
      calls: [...approvals, order(6n, true, -120), order(9n, true, -530), order(4n, false, 70), order(7n, false, 410)],
    },
    { label: 'approve', from: seller, calls: approvals },
    { label: 'approve', from: buyer, calls: approvals },
  ])
  const block = await blockIdOf(chain.rpcUrl, 1)
  const depths = await readDepths(rpcOf(chain.rpcUrl), [ALPHA], block)

  const amount = 10_000n * TOKEN
  const swap = (tokenIn: Address, tokenOut: Address, exact: 'in' | 'out') =>
    call.swap(tokenIn, tokenOut, { tokenIn, tokenOut, exact, amount })
  await chain.mine([
    { label: 'sell', from: seller, calls: [swap(ALPHA, PATH_USD, 'in')] },
    { label: 'buy', from: buyer, calls: [swap(PATH_USD, ALPHA, 'out')] },
  ])
  const receipts = (await chain.rpc.call('eth_getBlockReceipts', ['latest'])) as Array<{ logs: never[] }>
  const moved = (from: string, to: string) =>
    parseEventLogs({ abi: Abis.tip20, eventName: 'Transfer', logs: receipts.flatMap(({ logs }) => logs) })
      .filter(
        ({ address, args }) => address === PATH_USD && args.from.toLowerCase() === from && args.to.toLowerCase() === to,
      )
      .map(({ args }) => args.amount.toString())
  const dex = Addresses.stablecoinDex
  const [got] = moved(dex, seller.address.toLowerCase())
  const [paid] = moved(buyer.address.toLowerCase(), dex)

  const at = { stable: ALPHA, block_number: 1, block_time: block.time }
  const none = { sell_status: 'no_liquidity', sell_raw: null, buy_status: 'no_liquidity', buy_raw: null }
  expect(depths).toEqual([
    {
      ...at,
      size_tokens: 1_000,
      sell_status: 'quoted',
      sell_raw: '998800000',
      buy_status: 'quoted',
      buy_raw: '1000700000',
    },
    { ...at, size_tokens: 10_000, sell_status: 'quoted', sell_raw: got, buy_status: 'quoted', buy_raw: paid },
    { ...at, size_tokens: 100_000, ...none },
    { ...at, size_tokens: 1_000_000, ...none },
  ])
})

const BLOCKS = 150
/** Fewer reads might all hit a moment at which no block is mined. */
const FEWEST_READS = 20

let chain: OwnChain

beforeAll(async () => {
  chain = await ownChain({ historyBlocks: BLOCKS })
}, 300_000)
afterAll(() => chain?.remove())

test('what is read of the newest block is its own state, also while a restarted node replays the chain', {
  timeout: 300_000,
}, async () => {
  const { rpcUrl } = chain
  const rpc = rpcOf(rpcUrl)
  const quoted = chain.plan.tokens.filter(({ hasPair }) => hasPair).map(({ address }) => address.toLowerCase())
  const depthsAt = async (number: number) => readDepths(rpc, quoted, await blockIdOf(rpcUrl, number))
  chain.child.kill('SIGKILL')
  let isResumed = false
  const resumed = resumeChain(chain).finally(() => {
    isResumed = true
  })
  const whileReplayed = new Map<number, unknown>()
  while (!isResumed) {
    try {
      const number = await rpc.request('eth_blockNumber', [], Quantity)
      whileReplayed.set(number, await depthsAt(number))
    } catch {
      // Before the node listens, and while a block that it had announced is not there yet.
    }
  }
  chain = await resumed
  expect(whileReplayed.size).toBeGreaterThan(FEWEST_READS)
  for (const [number, depths] of whileReplayed) expect(depths, `block ${number}`).toEqual(await depthsAt(number))
})
