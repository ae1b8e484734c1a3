import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SpawnedDevnet, type SpawnOptions, spawnDevnet } from '../../local/chain/spawn.js'

export type TestChain = SpawnedDevnet & {
  dataDir: string
  /** Number of the newest block, which stays the newest. */
  head: number
  remove: () => Promise<void>
}

async function stillChainIn(dataDir: string, options: Omit<SpawnOptions, 'dataDir' | 'live'>): Promise<TestChain> {
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

/** A local chain with its planned history mined and no block after it. */
export async function stillChain(options: Omit<SpawnOptions, 'dataDir' | 'live'> = {}): Promise<TestChain> {
  return stillChainIn(await mkdtemp(join(tmpdir(), 'plumbline-chain-')), options)
}

/** The same chain again, at the same address, after its process has ended in whatever way. */
export const resumeChain = ({ dataDir, rpcUrl }: TestChain): Promise<TestChain> =>
  stillChainIn(dataDir, { port: Number(new URL(rpcUrl).port) })
