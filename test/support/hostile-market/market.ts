import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, encodeFunctionData, getContractAddress, type Hex, keccak256, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { accounts } from '../../../local/chain/accounts.js'
import { startBareChain } from '../../../local/chain/bare-chain.js'
import { applyLogs, emptyBooks } from '../../../local/chain/books.js'
import { readHead } from '../../../local/chain/head.js'
import type { Intent } from '../../../local/chain/intent.js'
import { openJournal } from '../../../local/chain/journal.js'
import { blockIntents } from '../../../local/chain/market.js'
import { createMiner } from '../../../local/chain/miner.js'
import { planMarket } from '../../../local/chain/plan.js'
import { randomFor } from '../../../local/chain/random.js'
import { createRpc, type Rpc } from '../../../local/chain/rpc.js'
import { createWallet, type Wallet } from '../../../local/chain/wallet.js'
import { actors } from './actors.js'
import { ATTACKS, PREPARATIONS, type Scene } from './attacks.js'

const BLOCK_SECONDS = 60
/** Blocks of the market alone, before the attackers prepare. */
export const CALM_BLOCKS = 12

export type HostileMarket = {
  rpcUrl: string
  /** Mines the next blocks: of the market alone, or with an attack. Returns the number of the newest. */
  mine: (blocks: number, attack?: string) => Promise<number>
  /** The attack that each transaction of an attacker belongs to, by hash. */
  attackOf: Map<string, string>
  stop: () => Promise<void>
}

/**
 * A local chain whose market trades as planned, while attackers act in the same blocks, before and after it. The same
 * seed gives the same transactions. Blocks are a minute apart and end in the past.
 */
export async function startHostileMarket(seed: number, blocks: number): Promise<HostileMarket> {
  const dir = await mkdtemp(join(tmpdir(), 'plumbline-hostile-'))
  const plan = planMarket({ seed, blocks, blockSeconds: BLOCK_SECONDS, liveBlockSeconds: 1, stables: 10 })
  const genesisTimestamp = Math.floor(Date.now() / 1000) - (blocks + 2) * BLOCK_SECONDS
  const chain = await startBareChain(dir, { genesisTimestamp, maxStates: blocks + 10 })
  const rpc = createRpc(chain.rpcUrl)
  await rpc.call('anvil_setCoinbase', [accounts.validator.address])
  const attackOf = new Map<string, string>()
  let theirs: ReadonlyMap<Intent, string> = new Map()
  const nonces = new Map<Address, number>()
  const signer = createWallet(Number(await rpc.call('eth_chainId')), nonces)
  const wallet: Wallet = {
    ...signer,
    sign: async (intents) => {
      const signed = await signer.sign(intents)
      for (const { intent, raw } of signed) {
        const attack = theirs.get(intent)
        if (attack !== undefined) attackOf.set(keccak256(raw), attack)
      }
      return signed
    },
  }
  const journal = await openJournal(join(dir, 'journal'))
  const miner = createMiner({ rpc, journal, wallet, nonces }, await readHead(rpc))
  const [books, dealersOrders] = [emptyBooks(), new Set<bigint>()]
  const quote = (tokenIn: Address, tokenOut: Address, amount: bigint) =>
    quoteAt(rpc, 'latest', tokenIn, tokenOut, amount)
  const [router, forger] = [0n, 1n].map((nth) => contractAddress(nth)) as [Address, Address]
  const rounds = new Map<string, number>()

  const hostile = async (block: number, attack: string | undefined): Promise<Intent[]> => {
    if (!attack) return []
    const round = rounds.get(attack) ?? 0
    rounds.set(attack, round + 1)
    const random = randomFor(seed, attack, block)
    const scene: Scene = { random, round, dealersOrders: [...dealersOrders], router, forger, quote }
    const made = attack === PREPARING ? PREPARATIONS[round] : await ATTACKS[attack]?.(scene)
    if (!made) throw new Error(`there is no attack "${attack}"`)
    return made.map((intent) => ({ label: attack, ...intent }))
  }

  const mineOne = async (number: number, attack: string | undefined): Promise<void> => {
    const random = randomFor(seed, 'order', number)
    const attacks = await hostile(number, attack)
    theirs = new Map(attacks.map((intent) => [intent, attack as string]))
    const own = blockIntents(plan, books, number)
    const intents = random.chance(0.5) ? [...attacks, ...own] : [...own, ...attacks]
    const timestamp = genesisTimestamp + number * BLOCK_SECONDS
    const { logs, failed } = await miner.mine({ number, timestamp, intents }, { sync: false })
    applyLogs(plan, books, logs)
    const unexpected = failed.filter(({ intent }) => !(intent.label in ATTACKS))
    if (unexpected.length > 0) throw new Error(`block ${number}: ${JSON.stringify(unexpected)}`)
    if (attack === 'orders pulled after one block') await readDealersOrders(rpc, number, dealersOrders)
  }

  return {
    rpcUrl: chain.rpcUrl,
    attackOf,
    mine: async (count, attack) => {
      let { number } = await readHead(rpc)
      for (const last = number + count; number < last; ) await mineOne(++number, attack)
      return number
    },
    stop: async () => {
      await journal.close()
      await chain.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** The three blocks in which the attackers prepare. */
export const PREPARING = 'preparations'
/** How many blocks those are. */
export const PREPARING_BLOCKS = PREPARATIONS.length

const contractAddress = (nth: bigint): Address =>
  // The attacker's first transaction approves the DEX.
  getContractAddress({ from: actors.attacker.address, nonce: 1n + nth }).toLowerCase() as Address

/** What the DEX pays for an amount at a block; null if it refuses. */
export async function quoteAt(
  rpc: Rpc,
  block: number | 'latest',
  tokenIn: string,
  tokenOut: string,
  amount: bigint,
): Promise<bigint | null> {
  const args = [tokenIn as Hex, tokenOut as Hex, amount] as const
  const data = encodeFunctionData({ abi: Abis.stablecoinDex, functionName: 'quoteSwapExactAmountIn', args })
  const tag = block === 'latest' ? block : numberToHex(block)
  const [answer] = await rpc.attempt([['eth_call', [{ to: Addresses.stablecoinDex, data }, tag]]])
  return answer && 'result' in answer ? BigInt(answer.result as Hex) : null
}

/** Updates the dealer's open orders with those of a block. */
async function readDealersOrders(rpc: Rpc, block: number, open: Set<bigint>): Promise<void> {
  const tag = numberToHex(block)
  const filter = { fromBlock: tag, toBlock: tag, address: Addresses.stablecoinDex }
  const logs = (await rpc.call('eth_getLogs', [filter])) as { topics: Hex[] }[]
  for (const { topics } of logs) {
    const [event = '', id = '0x0', maker = ''] = topics
    const isPlaced = event.startsWith('0xc200d837') && maker.endsWith(actors.dealer.address.slice(2).toLowerCase())
    if (isPlaced) open.add(BigInt(id))
    else open.delete(BigInt(id))
  }
}
