import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Account, accounts, users } from '../../../../local/chain/accounts.js'
import { type Call, call } from '../../../../local/chain/calls.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import type { SpawnedDevnet } from '../../../../local/chain/spawn.js'
import { PATH_USD } from '../../../../local/chain/stables.js'
import { blockHash, blockNumber, plannedQuotes, processesOf, readQuotes, rpc, test, until } from './chain.js'

const TOKEN = 10n ** 6n
const ALPHA = '0x20c0000000000000000000000000000000000001'
const BETA = '0x20c0000000000000000000000000000000000002'

/** Has the node sign and send a transaction of one of its accounts; returns whether the node took it. */
async function send(rpcUrl: string, from: Account, made: Call, extra: object = {}): Promise<boolean> {
  const transaction = { ...made, from: from.address, gas: '0x5b8d80', ...extra }
  const [answer] = await rpc(rpcUrl).attempt([['eth_sendTransaction', [transaction]]])
  return answer !== undefined && 'result' in answer
}

/** Sends what `next` makes, one after another, until it returns null. */
async function pester(devnet: SpawnedDevnet, next: (i: number) => [Account, Call, object?] | null): Promise<number> {
  let taken = 0
  for (let i = 0; devnet.child.exitCode === null; i++) {
    const made = next(i)
    if (!made) return taken
    if (await send(devnet.rpcUrl, ...made)) taken++
    await delay(5)
  }
  return taken
}

const approveAll = async (rpcUrl: string, from: Account): Promise<void> => {
  for (const token of [PATH_USD.address, ALPHA, BETA] as const) await send(rpcUrl, from, call.approveDex(token))
}

/** An order or a swap of anybody on a book with AlphaUSD or BetaUSD. Swaps take most of a level, or all of it. */
function trade(random: Random): Call {
  const token = random.pick([ALPHA, BETA] as const)
  const isBid = random.chance(0.5)
  if (random.chance(0.6)) {
    const tick = (isBid ? -1 : 1) * random.int(150, 195) * 10
    return call.place(token, { amount: BigInt(random.int(100, 900)) * TOKEN, isBid, tick })
  }
  const swap = {
    tokenIn: '',
    tokenOut: '',
    exact: 'in',
    amount: BigInt(random.int(100_000, 3_000_000)) * TOKEN,
  } as const
  return isBid ? call.swap(token, PATH_USD.address, swap) : call.swap(PATH_USD.address, token, swap)
}

test('orders of others change neither the prices of the market nor its life', async ({ start }) => {
  const log: string[] = []
  const devnet = await start({ historyBlocks: 300, seed: 7, onLog: (line) => log.push(line) })
  const { rpcUrl, plan } = devnet
  await until(async () => (await blockNumber(rpcUrl)) >= 5)
  await approveAll(rpcUrl, users[0])
  let isOver = false
  devnet.historyDone
    .finally(() => {
      isOver = true
    })
    .catch(() => undefined)
  const placed = await pester(devnet, (i) => {
    const order = { amount: 100n * TOKEN, isBid: i % 2 === 0, tick: i % 2 === 0 ? -1950 : 1950 }
    return isOver ? null : [users[0], call.place(i % 3 === 0 ? BETA : ALPHA, order)]
  })
  await devnet.historyDone
  expect(placed).toBeGreaterThan(50)
  expect(log.filter((line) => line.includes('failed'))).toEqual([])
  for (let block = 6; block <= 300; block += 7) {
    expect(await readQuotes(rpcUrl, plan, block), `block ${block}`).toEqual(plannedQuotes(plan, block))
  }
})

test('a market whose orders are taken and whose accounts are used by others survives, also a kill', async ({
  start,
  dataDir,
}) => {
  const log: string[] = []
  const onLog = (line: string) => log.push(line)
  const first = await start({ historyBlocks: 300, seed: 7, live: true, onLog })
  const { rpcUrl, plan } = first
  await until(async () => (await blockNumber(rpcUrl)) >= 5)
  for (const user of users) await approveAll(rpcUrl, user)
  const random = randomFor(5, 'strangers')
  const own = [accounts.maker, accounts.flipMaker, ...accounts.traders, accounts.issuer]
  let isOver = false
  first.historyDone
    .finally(() => {
      isOver = true
    })
    .catch(() => undefined)
  // A price above the market's comes before its transactions in the block, one below after them.
  const price = () => random.pick(['0x4a817c800', '0x6fc23ac00'])
  const taken = await pester(first, () => {
    if (isOver) return null
    const fees = { maxFeePerGas: price(), maxPriorityFeePerGas: price() }
    if (random.chance(0.7)) return [random.pick(users), trade(random), fees]
    return [random.pick(own), random.chance(0.5) ? trade(random) : call.transfer(ALPHA, users[2].address, 1n), fees]
  })
  await first.historyDone
  expect(taken).toBeGreaterThan(50)
  expect(log.some((line) => line.includes('a transaction of the market failed'))).toBe(true)

  const head = await blockNumber(rpcUrl)
  await until(async () => (await blockNumber(rpcUrl)) >= head + 3)
  const at = await blockNumber(rpcUrl)
  const hash = await blockHash(rpcUrl, at - 1)
  first.child.kill('SIGKILL')
  await until(async () => (await processesOf(dataDir)).length === 0)
  const second = await start({ live: true, onLog })
  expect(await blockHash(second.rpcUrl, at - 1)).toBe(hash)
  expect(log.filter((line) => line.includes('is lost'))).toEqual([])
  const from = await blockNumber(second.rpcUrl)
  await until(async () => (await blockNumber(second.rpcUrl)) >= from + 3)
  for (let block = from + 1; block <= from + 3; block++) {
    const quotes = await readQuotes(second.rpcUrl, second.plan, block)
    // The strangers' orders on two books are better than the market's at times, so the plan holds for all others.
    const isOwn = ({ symbol }: { symbol: string }) => symbol !== 'AlphaUSD' && symbol !== 'BetaUSD'
    expect(quotes.filter(isOwn)).toEqual(plannedQuotes(plan, block).filter(isOwn))
  }
})
