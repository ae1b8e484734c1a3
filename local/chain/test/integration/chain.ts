import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { test as base } from 'vitest'
import type { MarketPlan } from '../../plan.js'
import { createRpc, type Rpc } from '../../rpc.js'
import { type SpawnedDevnet, type SpawnOptions, spawnDevnet } from '../../spawn.js'
import { PATH_USD } from '../../stables.js'

/** Gives each test a folder for a chain, and ends every devnet that it starts there. */
export const test = base.extend<{
  dataDir: string
  start: (options?: Partial<SpawnOptions>) => Promise<SpawnedDevnet>
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's needs from the pattern
  dataDir: async ({}, use) => {
    const dir = await mkdtemp(join(tmpdir(), 'plumbline-devnet-'))
    await use(dir)
    await rm(dir, { recursive: true })
  },
  start: async ({ dataDir }, use) => {
    const started: SpawnedDevnet[] = []
    await use(async (options) => {
      const devnet = await spawnDevnet({ dataDir, historyBlocks: 60, ...options })
      started.push(devnet)
      return devnet
    })
    for (const devnet of started) await devnet.stop()
  },
})

/** The node's quotes for selling and buying one of every token at a block; null if it refuses. */
export async function readQuotes(rpcUrl: string, plan: MarketPlan, block: number) {
  const legs = plan.tokens.flatMap(({ address }) => [
    [address, PATH_USD.address] as const,
    [PATH_USD.address, address] as const,
  ])
  const body = legs.map(([tokenIn, tokenOut], id) => {
    const data = encodeFunctionData({
      abi: Abis.stablecoinDex,
      functionName: 'quoteSwapExactAmountIn',
      args: [tokenIn, tokenOut, 1_000_000n],
    })
    const params = [{ to: Addresses.stablecoinDex, data }, numberToHex(block)]
    return { jsonrpc: '2.0', id, method: 'eth_call', params }
  })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
  const answers = (await response.json()) as { id: number; result?: Hex }[]
  const results: (bigint | null)[] = legs.map(() => null)
  for (const { id, result } of answers) results[id] = result ? BigInt(result) : null
  return plan.tokens.map(({ symbol }, i) => ({
    symbol,
    sell: results[2 * i] ?? null,
    buy: results[2 * i + 1] ?? null,
  }))
}

/** The same as `readQuotes`, from the plan. */
export const plannedQuotes = (plan: MarketPlan, block: number) =>
  plan.tokens.map(({ symbol }) => {
    const { sell, buy } = plan.quoteAt(symbol, block)
    return { symbol, sell, buy }
  })

/** The hash of a block. */
export async function blockHash(rpcUrl: string, block: number | 'latest'): Promise<string> {
  const tag = block === 'latest' ? block : numberToHex(block)
  return ((await rpc(rpcUrl).call('eth_getBlockByNumber', [tag, false])) as { hash: string }).hash
}

/** An account's balance of a token at the end of a block, read from the token. */
export async function balanceAt(
  chain: { rpcUrl: string },
  token: string,
  account: Hex,
  block: number,
): Promise<bigint> {
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'balanceOf', args: [account] })
  return BigInt((await rpc(chain.rpcUrl).call('eth_call', [{ to: token, data }, numberToHex(block)])) as Hex)
}

/** A client for the devnet's node. */
export const rpc = (rpcUrl: string): Rpc => createRpc(rpcUrl)

/** The number of the newest block. */
export const blockNumber = async (rpcUrl: string): Promise<number> => Number(await rpc(rpcUrl).call('eth_blockNumber'))

/** The process id of the node that runs in a folder. */
export const nodePid = async (dataDir: string): Promise<number> =>
  Number(await readFile(join(dataDir, 'chain', 'anvil.pid'), 'utf8'))

/** Command lines of running processes that contain the folder. */
export async function processesOf(dataDir: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args='])
  return stdout.split('\n').filter((line) => line.includes(dataDir))
}

/** Waits until the condition holds; fails after a minute. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 1200; i++) {
    if (await condition()) return
    await new Promise((settle) => setTimeout(settle, 50))
  }
  throw new Error('the condition never held')
}
