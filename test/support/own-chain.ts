import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MarketPlan } from '../../local/chain/plan.js'
import { type SpawnedDevnet, type SpawnOptions, spawnDevnet } from '../../local/chain/spawn.js'

export type ChainOptions = Pick<SpawnOptions, 'seed' | 'stables' | 'historyBlocks' | 'blockSeconds'>

export type TestChain = Pick<SpawnedDevnet, 'rpcUrl' | 'wsUrl' | 'chainId' | 'genesisHash'> & {
  plan: MarketPlan
  /** Number of the newest block of the planned history. */
  head: number
  remove: () => Promise<void>
}

/** A chain whose process belongs to the test, which may kill it. */
export type OwnChain = TestChain & Pick<SpawnedDevnet, 'child' | 'stop'> & { dataDir: string }

async function ownChainIn(dataDir: string, options: Omit<SpawnOptions, 'dataDir' | 'live'>): Promise<OwnChain> {
  const devnet = await spawnDevnet({ ...options, dataDir })
  await devnet.historyDone
  return {
    ...devnet,
    dataDir,
    head: devnet.plan.params.blocks,
    remove: async () => {
      await devnet.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** A local chain with its planned history mined and no block after it, in the test's own process. */
export async function ownChain(options: ChainOptions = {}): Promise<OwnChain> {
  return ownChainIn(await mkdtemp(join(tmpdir(), 'plumbline-chain-')), options)
}

/** Restarts the chain at the same address, however its process ended. */
export const resumeChain = ({ dataDir, rpcUrl }: OwnChain): Promise<OwnChain> =>
  ownChainIn(dataDir, { port: Number(new URL(rpcUrl).port) })
