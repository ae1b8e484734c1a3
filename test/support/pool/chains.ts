import type { PlanParams } from '../../../local/chain/plan.js'
import { createRpc } from '../../../local/chain/rpc.js'
import { type ChainOptions, type OwnChain, ownChain } from '../own-chain.js'

/** The properties of a chain that another process needs. */
export type PooledChain = Pick<OwnChain, 'rpcUrl' | 'wsUrl' | 'chainId' | 'genesisHash'> & {
  id: string
  params: PlanParams
}

export type Chains = {
  /** A chain with these options and only its history, for exclusive use. */
  take: (options: ChainOptions) => Promise<PooledChain>
  /** Reverts the blocks that were mined since it was lent. */
  giveBack: (id: string) => void
  /** The database that was made of a chain's history under this name, if one was. */
  copyOf: (id: string, name: string) => string | undefined
  /** Keeps a database made of a chain's history for all tests that get the chain. They only read it. */
  keepCopy: (id: string, name: string, database: string) => void
  close: () => Promise<void>
}

type Entry = { key: string; chain: OwnChain; snapshot: unknown; free: boolean; copies: Map<string, string> }

/** Local chains for tests: planning and mining a history takes seconds, reverting to its end takes milliseconds. */
export function createChains(): Chains {
  const entries = new Map<string, Entry>()

  const free = async (entry: Entry): Promise<void> => {
    const rpc = createRpc(entry.chain.rpcUrl)
    if ((await rpc.call('evm_revert', [entry.snapshot])) !== true) throw new Error('the chain could not be reverted')
    entry.snapshot = await rpc.call('evm_snapshot')
    const newest = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { number: string }
    if (Number(newest.number) !== entry.chain.head) throw new Error(`the chain is at block ${Number(newest.number)}`)
    entry.free = true
  }

  return {
    take: async (options) => {
      const key = JSON.stringify(Object.entries(options).sort())
      let entry = [...entries.values()].find((one) => one.free && one.key === key)
      if (entry) entry.free = false
      else {
        const chain = await ownChain(options)
        const snapshot = await createRpc(chain.rpcUrl).call('evm_snapshot')
        entry = { key, chain, snapshot, free: false, copies: new Map() }
        entries.set(chain.dataDir, entry)
      }
      const { rpcUrl, wsUrl, chainId, genesisHash, dataDir: id, plan } = entry.chain
      return { id, rpcUrl, wsUrl, chainId, genesisHash, params: plan.params }
    },
    giveBack: (id) => {
      const entry = entries.get(id)
      if (!entry) return
      free(entry).catch(async (error) => {
        console.error(`a chain is not used again: ${error}`)
        entries.delete(id)
        await entry.chain.remove()
      })
    },
    copyOf: (id, name) => entries.get(id)?.copies.get(name),
    keepCopy: (id, name, database) => {
      entries.get(id)?.copies.set(name, database)
    },
    close: async () => {
      await Promise.all([...entries.values()].map(({ chain }) => chain.remove()))
    },
  }
}
