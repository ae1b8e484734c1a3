import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from 'viem'
import { accounts } from '../../local/chain/accounts.js'
import { startBareChain } from '../../local/chain/bare-chain.js'
import { applyLogs, emptyBooks } from '../../local/chain/books.js'
import { readHead } from '../../local/chain/head.js'
import { openJournal } from '../../local/chain/journal.js'
import { blockIntents } from '../../local/chain/market.js'
import { createMiner } from '../../local/chain/miner.js'
import { type MarketPlan, planMarket } from '../../local/chain/plan.js'
import { createRpc } from '../../local/chain/rpc.js'
import { createWallet } from '../../local/chain/wallet.js'

export type GrowingMarket = {
  rpcUrl: string
  plan: MarketPlan
  /** Mines the planned blocks up to this one. */
  mineTo: (block: number) => Promise<void>
  remove: () => Promise<void>
}

type Options = { seed: number; blocks: number; blockSeconds: number; stables: number }

/**
 * A local chain whose market trades as planned and whose blocks a test mines when it wants them, with the times of the
 * plan: hours of a market pass in seconds. The last planned block is a little in the past.
 */
export async function growingMarket({ seed, blocks, blockSeconds, stables }: Options): Promise<GrowingMarket> {
  const dir = await mkdtemp(join(tmpdir(), 'plumbline-growing-'))
  const plan = planMarket({ seed, blocks, blockSeconds, liveBlockSeconds: 1, stables })
  // At the same place in a quarter of an hour in each run, so that windows have the same blocks.
  const quarter = Math.floor(Date.now() / 900_000) * 900
  const genesisTimestamp = quarter + 77 - (blocks + 2) * blockSeconds
  const chain = await startBareChain(dir, { genesisTimestamp, maxStates: blocks + 10 })
  const rpc = createRpc(chain.rpcUrl)
  await rpc.call('anvil_setCoinbase', [accounts.validator.address])
  const nonces = new Map<Address, number>()
  const wallet = createWallet(Number(await rpc.call('eth_chainId')), nonces)
  const journal = await openJournal(join(dir, 'journal'))
  const miner = createMiner({ rpc, journal, wallet, nonces }, await readHead(rpc))
  const books = emptyBooks()
  return {
    rpcUrl: chain.rpcUrl,
    plan,
    mineTo: async (block) => {
      for (let number = (await readHead(rpc)).number + 1; number <= block; number++) {
        const intents = blockIntents(plan, books, number)
        const timestamp = genesisTimestamp + number * blockSeconds
        const { logs, failed } = await miner.mine({ number, timestamp, intents }, { sync: false })
        if (failed.length > 0) throw new Error(`block ${number}: ${JSON.stringify(failed)}`)
        applyLogs(plan, books, logs)
      }
    },
    remove: async () => {
      await journal.close()
      await chain.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
