import { decodeFunctionResult, encodeFunctionData, numberToHex, parseEventLogs, type RpcLog } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { hops } from '../../actions.js'
import { applyLogs, emptyBooks } from '../../books.js'
import { readBooks } from '../../resume.js'
import { type RpcTransaction, swapCalls } from '../../swap-calls.js'
import { blockNumber, plannedQuotes, readQuotes, rpc, test, until } from './chain.js'

test('every quote of every block is as planned, during breaks, an empty book and a pause', async ({ start }) => {
  const { rpcUrl, plan, historyDone } = await start({ historyBlocks: 120, seed: 7 })
  await historyDone
  expect(await blockNumber(rpcUrl)).toBe(120)
  const kinds = new Set(plan.episodes(0, 121).map((e) => e.kind))
  expect(kinds).toEqual(new Set(['mild_break', 'severe_break', 'blip', 'dry', 'burst', 'issuance', 'pause']))
  for (let block = 4; block <= 120; block++) {
    expect(await readQuotes(rpcUrl, plan, block), `block ${block}`).toEqual(plannedQuotes(plan, block))
  }
})

test('stables have the planned names, supply, cap, policy and quote token', async ({ start }) => {
  const { rpcUrl, plan, historyDone } = await start({ stables: 60 })
  await historyDone
  const read = async (
    token: `0x${string}`,
    functionName: 'symbol' | 'name' | 'currency' | 'quoteToken' | 'transferPolicyId' | 'totalSupply' | 'supplyCap',
  ) => {
    const data = encodeFunctionData({ abi: Abis.tip20, functionName })
    const result = await rpc(rpcUrl).call('eth_call', [{ to: token, data }, '0x3'])
    return decodeFunctionResult({ abi: Abis.tip20, functionName, data: result as `0x${string}` })
  }
  const policies = { allow_all: 1n, blacklist: 2n, whitelist: 3n, compound: 5n }
  expect(plan.stables).toHaveLength(60)
  for (const s of plan.stables) {
    expect(await read(s.address, 'symbol')).toBe(s.symbol)
    expect(await read(s.address, 'name')).toBe(s.name)
    expect(await read(s.address, 'currency')).toBe(s.currency)
    expect(await read(s.address, 'totalSupply')).toBe(s.initialSupply)
    expect(await read(s.address, 'supplyCap')).toBe(s.supplyCap ?? 2n ** 128n - 1n)
    expect(await read(s.address, 'transferPolicyId')).toBe(policies[s.policy])
    const quote = s.quote === 'pathUSD' ? Addresses.pathUsd : plan.stable(s.quote).address
    expect(String(await read(s.address, 'quoteToken')).toLowerCase()).toBe(quote)
  }
})

test('swaps have one to three hops, are exact in and exact out, and come in pairs in one transaction', async ({
  start,
}) => {
  const { rpcUrl, plan, historyDone } = await start({ historyBlocks: 120 })
  await historyDone
  const symbolOf = new Map<string, string>([[Addresses.pathUsd, 'pathUSD']])
  for (const s of plan.stables) symbolOf.set(s.address, s.symbol)
  const seen = new Set<string>()
  for (let block = 1; block <= 120; block++) {
    const answer = await rpc(rpcUrl).call('eth_getBlockByNumber', [numberToHex(block), true])
    for (const transaction of (answer as { transactions: RpcTransaction[] }).transactions) {
      const swaps = swapCalls(transaction)
      if (swaps.length === 2) seen.add('two in one')
      for (const { tokenIn, tokenOut, exact } of swaps) {
        const edge = { tokenIn: symbolOf.get(tokenIn) ?? '', tokenOut: symbolOf.get(tokenOut) ?? '' }
        seen.add(`${hops(plan, edge)} ${exact}`)
      }
    }
  }
  expect([...seen].sort()).toEqual(['1 in', '1 out', '2 in', '2 out', '3 in', '3 out', 'two in one'])
})

test('a swap can fill two orders, and the smaller one flips to the other side', async ({ start }) => {
  const { rpcUrl, historyDone } = await start({ historyBlocks: 120 })
  await historyDone
  const filter = { fromBlock: '0x1', toBlock: 'latest', address: Addresses.stablecoinDex }
  const logs = (await rpc(rpcUrl).call('eth_getLogs', [filter])) as RpcLog[]
  const events = parseEventLogs({ abi: Abis.stablecoinDex, logs })
  const shapes = new Map<string, string>()
  for (const { transactionHash, eventName } of events) {
    shapes.set(transactionHash, `${shapes.get(transactionHash) ?? ''} ${eventName}`)
  }
  expect([...shapes.values()]).toContain(' OrderFilled OrderPlaced OrderFilled')
})

test('rewards, fees, roles, policies and supply emit every kind of event', async ({ start }) => {
  const { rpcUrl, plan, historyDone } = await start({ historyBlocks: 120 })
  await historyDone
  const tokens = plan.stables.map((s) => s.address)
  const address = [...tokens, Addresses.feeManager, Addresses.tip403Registry, Addresses.tip20Factory]
  const logs = await rpc(rpcUrl).call('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest', address }])
  const abi = [Abis.tip20, Abis.feeManager, Abis.tip403Registry, Abis.tip20Factory].flat()
  const seen = new Set(parseEventLogs({ abi, logs: logs as RpcLog[] }).map((e) => e.eventName))
  const expected = [
    'TokenCreated',
    'Transfer',
    'TransferWithMemo',
    'Mint',
    'Burn',
    'SupplyCapUpdate',
    'PauseStateUpdate',
  ]
  expected.push(
    'TransferPolicyUpdate',
    'PolicyCreated',
    'CompoundPolicyCreated',
    'BlacklistUpdated',
    'WhitelistUpdated',
  )
  expected.push('RoleMembershipUpdated', 'RewardRecipientSet', 'RewardDistributed', 'UserTokenSet', 'FeesDistributed')
  expect([...seen]).toEqual(expect.arrayContaining(expected))
})

test('the logs of its blocks give the market the same books as a restart reads from the node', async ({ start }) => {
  const { rpcUrl, plan, historyDone } = await start({ historyBlocks: 120, seed: 3 })
  await historyDone
  const books = emptyBooks()
  const range = { fromBlock: '0x1', toBlock: 'latest', address: Addresses.stablecoinDex }
  applyLogs(plan, books, (await rpc(rpcUrl).call('eth_getLogs', [range])) as RpcLog[])
  const onChain = await readBooks(rpc(rpcUrl), plan)
  expect(onChain.flips).toEqual(books.flips)
  const sorted = (of: typeof books) =>
    [...of.ladders].map(([symbol, orders]) => [symbol, orders.toSorted((a, b) => Number(a.id - b.id))]).sort()
  expect(sorted(onChain)).toEqual(sorted(books))
  expect(sorted(books)).not.toEqual([])
})

test('live blocks come once a second, as planned and never ahead of the clock', async ({ start }) => {
  const { rpcUrl, plan, historyDone } = await start({ historyBlocks: 20, live: true })
  await historyDone
  const from = await blockNumber(rpcUrl)
  await until(async () => (await blockNumber(rpcUrl)) >= from + 6)
  const to = await blockNumber(rpcUrl)
  const timeOf = async (block: string): Promise<number> =>
    Number(((await rpc(rpcUrl).call('eth_getBlockByNumber', [block, false])) as { timestamp: string }).timestamp)
  const times = await Promise.all(
    Array.from({ length: to - from }, (_, i) => timeOf(`0x${(from + 1 + i).toString(16)}`)),
  )
  // A busy machine may skip a second, but no block comes early.
  const steps = times.slice(1).map((time, i) => time - (times[i] as number))
  expect(Math.min(...steps)).toBe(1)
  expect(await timeOf('latest')).toBeLessThanOrEqual(Date.now() / 1000)
  await until(async () => (await timeOf('latest')) >= Date.now() / 1000 - 3)
  for (let block = from; block <= to; block++) {
    expect(await readQuotes(rpcUrl, plan, block)).toEqual(plannedQuotes(plan, block))
  }
})
