import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { numberToHex } from 'viem'
import { test as base, expect } from 'vitest'
import { type Account, accounts, users } from '../../accounts.js'
import { CHAIN_ID } from '../../anvil.js'
import { startBareChain } from '../../bare-chain.js'
import { type Call, call } from '../../calls.js'
import { openJournal, readJournal } from '../../journal.js'
import { type MarketPlan, planMarket } from '../../plan.js'
import { createMarket } from '../../run-market.js'
import { PATH_USD } from '../../stables.js'
import { balanceAt, plannedQuotes, readQuotes } from './chain.js'

const BLOCKS = 240
const BLOCK_SECONDS = 60
const ALPHA = '0x20c0000000000000000000000000000000000001'

type Logged = { level: string; block: number; label: string; problem?: string }

type Driven = {
  rpcUrl: string
  plan: MarketPlan
  logged: Logged[]
  /** Mines the market's blocks up to this one. */
  mineTo: (block: number) => Promise<void>
  /** Sends a transaction with the key of any account, which the next block has. */
  send: (from: Account, made: Call, weiPerGas?: bigint) => Promise<void>
  rpc: (method: string, ...params: unknown[]) => Promise<unknown>
  journal: () => ReturnType<typeof readJournal>
}

/** A market whose blocks the test mines one by one, so that it acts between them. */
const test = base.extend<{ market: Driven }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  market: async ({}, use) => {
    const dir = await mkdtemp(join(tmpdir(), 'plumbline-interference-'))
    const genesisTimestamp = Math.floor(Date.now() / 1000) - (BLOCKS + 2) * BLOCK_SECONDS
    const chain = await startBareChain(dir, { genesisTimestamp, maxStates: BLOCKS })
    const { rpc, rpcUrl } = chain
    await rpc.call('anvil_setCoinbase', [accounts.validator.address])
    const journal = await openJournal(join(dir, 'journal'))
    const plan = planMarket({ seed: 7, blocks: BLOCKS, blockSeconds: BLOCK_SECONDS, liveBlockSeconds: 1, stables: 9 })
    const logged: Logged[] = []
    const into = (level: string) => (fields: Omit<Logged, 'level'>) => logged.push({ level, ...fields })
    const log = { info: into('info'), warn: into('warn') } as never
    const mine = await createMarket({ rpc, journal, plan, chainId: CHAIN_ID, log }, async () => undefined)
    let head = 0
    await use({
      rpcUrl,
      plan,
      logged,
      mineTo: async (block) => {
        while (head < block) await mine(++head, genesisTimestamp + head * BLOCK_SECONDS, { sync: false })
      },
      send: async (from, made, weiPerGas = 40_000_000_000n) => {
        const nonce = Number(await rpc.call('eth_getTransactionCount', [from.address, 'pending']))
        const fees = { maxFeePerGas: weiPerGas, maxPriorityFeePerGas: weiPerGas }
        const transaction = { type: 'eip1559', chainId: CHAIN_ID, nonce, gas: 3_000_000n, ...fees, ...made } as const
        await rpc.call('eth_sendRawTransaction', [await from.signTransaction(transaction)])
      },
      rpc: (method, ...params) => rpc.call(method, params),
      journal: () => readJournal(join(dir, 'journal'), 0),
    })
    await journal.close()
    await chain.stop()
    await rm(dir, { recursive: true, force: true })
  },
})

const failures = ({ logged }: Driven) => logged.filter(({ level }) => level === 'warn')

test('when somebody takes the nonces of the market in each block, all its transactions are mined all the same', async ({
  market,
}) => {
  const { mineTo, send, rpcUrl, plan } = market
  await mineTo(5)
  const { maker, flipMaker, guardian, issuer, traders } = accounts
  for (let block = 6; block <= 30; block++) {
    for (const from of [maker, flipMaker, guardian, issuer, ...traders])
      await send(from, call.transfer(ALPHA, users[0].address, 1n))
    await mineTo(block)
    if (block % 6 === 0)
      expect(await readQuotes(rpcUrl, plan, block), `block ${block}`).toEqual(plannedQuotes(plan, block))
  }
  expect(failures(market)).toEqual([])
  const lines = await market.journal()
  expect(lines.map(({ raws }) => new Set(raws).size)).toEqual(lines.map(({ raws }) => raws.length))
})

test('a pause that could not be ended in its block ends as soon as the node takes the transaction', async ({
  market,
}) => {
  const { mineTo, rpc, rpcUrl, plan } = market
  const pause = plan.episodes(1, BLOCKS).find(({ kind }) => kind === 'pause')
  if (!pause) throw new Error('the plan has no pause')
  await mineTo(pause.toBlock - 1)
  const { address } = accounts.guardian
  const balance = await rpc('eth_getBalance', address, 'latest')
  await rpc('anvil_setBalance', address, numberToHex(0))
  await mineTo(pause.toBlock + 2)
  const sale = async (block: number) => (await readQuotes(rpcUrl, plan, block)).find((q) => q.symbol === pause.stable)
  expect(await sale(pause.toBlock + 2)).toMatchObject({ sell: null })
  const label = `unpause ${pause.stable}`
  expect(failures(market).filter((one) => one.label === label)).toHaveLength(1)

  await rpc('anvil_setBalance', address, balance)
  await mineTo(pause.toBlock + 4)
  expect(market.logged).toContainEqual(expect.objectContaining({ level: 'info', block: pause.toBlock + 3, label }))
  expect(await readQuotes(rpcUrl, plan, pause.toBlock + 4)).toEqual(plannedQuotes(plan, pause.toBlock + 4))
})

test('a market maker without money is reported once, and trades again when it has some', async ({ market }) => {
  const { mineTo, send, rpcUrl, plan } = market
  await mineTo(20)
  const { maker } = accounts
  const all = await balanceAt({ rpcUrl }, PATH_USD.address, maker.address, 20)
  // The rest is enough for the fee of this transfer, and for no order.
  await send(maker, call.transfer(PATH_USD.address, users[0].address, all - 125_000n))
  await mineTo(90)
  const moves = market.logged.filter(({ label }) => label.startsWith('move the orders'))
  expect(moves).not.toEqual([])
  for (const label of new Set(moves.map((one) => one.label))) {
    const levels = moves.filter((one) => one.label === label).map(({ level }) => level)
    expect(levels, label).toEqual(levels.map((_, i) => (i % 2 === 0 ? 'warn' : 'info')))
  }

  await send(users[0], call.transfer(PATH_USD.address, maker.address, all - 1_000_000n))
  await mineTo(93)
  expect(market.logged.at(-1)).toMatchObject({ level: 'info', label: expect.stringContaining('move the orders') })
  expect(await readQuotes(rpcUrl, plan, 93)).toEqual(plannedQuotes(plan, 93))
})
