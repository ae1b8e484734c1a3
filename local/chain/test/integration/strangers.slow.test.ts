import { setTimeout as delay } from 'node:timers/promises'
import { numberToHex } from 'viem'
import { expect } from 'vitest'
import { type Account, accounts, devAccount, payer, users } from '../../accounts.js'
import { CHAIN_ID } from '../../anvil.js'
import { type Call, call } from '../../calls.js'
import { type Random, randomFor } from '../../random.js'
import type { SpawnedDevnet } from '../../spawn.js'
import { PATH_USD } from '../../stables.js'
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

/** What a stranger does next. Some of it reverts, and some is refused by the node. */
function whim(random: Random, nth: number): Call {
  const draw = random.next()
  if (draw < 0.4) return trade(random)
  if (draw < 0.6) return call.transfer(random.pick([PATH_USD.address, ALPHA, BETA]), random.pick(users).address, 1n)
  // Most of what an account has.
  if (draw < 0.65) return call.transfer(PATH_USD.address, random.pick(users).address, 2n ** 63n)
  if (draw < 0.8) return call.cancel(BigInt(random.int(1, 400)))
  if (draw < 0.85) return call.createPolicy(users[0].address, 'blacklist', [accounts.maker.address])
  const salt = numberToHex(1_000_000 + nth, { size: 32 })
  return call.createToken({ name: 'A', symbol: 'A', currency: 'USD', quote: ALPHA, admin: users[0].address, salt })
}

/** Signs and sends a transaction: with the next nonce as a rule, or with one that is too low or leaves a gap. */
async function sign(devnet: SpawnedDevnet, from: Account, random: Random, made: Call): Promise<boolean> {
  const client = rpc(devnet.rpcUrl)
  const next = Number(await client.call('eth_getTransactionCount', [from.address, 'pending']))
  // A price above the market's comes before its transactions in the block, one below after them.
  const fee = random.pick([18_000_000_000n, 30_000_000_000n])
  const raw = await from.signTransaction({
    ...{ type: 'eip1559', chainId: CHAIN_ID, gas: 6_000_000n, maxFeePerGas: fee, maxPriorityFeePerGas: fee, ...made },
    nonce: Math.max(0, next + random.pick([0, 0, 0, 0, 0, 0, -1, 3])),
  })
  const [answer] = await client.attempt([['eth_sendRawTransaction', [raw]]])
  return answer !== undefined && 'result' in answer
}

/** Blocks of a second in which a stranger is active: an hour has 3600. */
const BLOCKS = Number(process.env.STRANGER_BLOCKS ?? 150)

test.for([
  { keys: 'the keys that stock tools come with', own: false, seed: 5 },
  { keys: "the market's own keys", own: true, seed: 6 },
])(
  'a stranger with $keys does not end the chain, nor change what a kill restores',
  async ({ own, seed }, { start, dataDir }) => {
    const log: string[] = []
    const onLog = (line: string) => log.push(line)
    const first = await start({ historyBlocks: BLOCKS, blockSeconds: 1, seed: 7, live: true, onLog })
    const { rpcUrl, plan } = first
    const stock = Array.from({ length: 20 }, (_, i) => devAccount(i))
    const keys = own ? [...stock, ...Object.values(accounts).flat()] : stock
    await until(async () => (await blockNumber(rpcUrl)) >= 5)
    for (const user of users) await approveAll(rpcUrl, user)
    const random = randomFor(seed, 'strangers')
    let isOver = false
    first.historyDone
      .finally(() => {
        isOver = true
      })
      .catch(() => undefined)
    let taken = 0
    for (let nth = 0; !isOver && first.child.exitCode === null; nth++) {
      if (await sign(first, random.pick(keys), random, whim(random, nth))) taken++
      await delay(5)
    }
    await first.historyDone
    expect(taken).toBeGreaterThan(50)

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
    console.log(
      `${taken} transactions of a stranger in ${BLOCKS} blocks; ${log.filter((line) => line.includes('of the market failed')).length} reports`,
    )
    if (own) return
    for (let block = from + 1; block <= from + 3; block++) {
      const quotes = await readQuotes(second.rpcUrl, second.plan, block)
      // The strangers' orders on two books are better than the market's at times, so the plan holds for all others.
      const isOwn = ({ symbol }: { symbol: string }) => symbol !== 'AlphaUSD' && symbol !== 'BetaUSD'
      expect(quotes.filter(isOwn)).toEqual(plannedQuotes(plan, block).filter(isOwn))
    }
  },
)

test('a transaction that nobody signed does not end the chain, and a restart has it', async ({ start, dataDir }) => {
  const log: string[] = []
  const onLog = (line: string) => log.push(line)
  const first = await start({ historyBlocks: 30, live: true, onLog })
  await first.historyDone
  const client = rpc(first.rpcUrl)
  // The node signs for an account whose key it does not have; nothing can reproduce that.
  await client.call('anvil_impersonateAccount', [payer.address])
  const made = { ...call.transfer(PATH_USD.address, users[0].address, 12_345n), from: payer.address, gas: '0x5b8d80' }
  const sent = await client.call('eth_sendTransaction', [made])
  const blockOf = async (rpcUrl: string): Promise<string | null> => {
    const receipt = await rpc(rpcUrl).call('eth_getTransactionReceipt', [sent])
    return (receipt as { blockHash: string } | null)?.blockHash ?? null
  }
  await until(async () => (await blockOf(first.rpcUrl)) !== null)
  await until(() => log.some((line) => line.includes('the state after its block is saved instead')))
  const at = await blockNumber(first.rpcUrl)
  await until(async () => (await blockNumber(first.rpcUrl)) >= at + 2)
  const hash = await blockHash(first.rpcUrl, at + 1)
  first.child.kill('SIGKILL')
  await until(async () => (await processesOf(dataDir)).length === 0)
  for (let i = 0; i < 2; i++) {
    const again = await start({ live: true, onLog })
    expect(await blockHash(again.rpcUrl, at + 1)).toBe(hash)
    expect(log.filter((line) => line.includes('is lost'))).toEqual([])
    const from = await blockNumber(again.rpcUrl)
    await until(async () => (await blockNumber(again.rpcUrl)) >= from + 2)
    await again.stop()
  }
})
