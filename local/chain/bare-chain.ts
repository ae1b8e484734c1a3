import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type AnvilOptions, startAnvil } from './anvil.js'
import { DevnetError } from './errors.js'
import type { Intent } from './intent.js'
import type { Rpc } from './rpc.js'
import { createWallet } from './wallet.js'

/** A transaction of a bare chain was dropped or reverted. */
class TransactionError extends DevnetError {}

export type BareChain = {
  rpcUrl: string
  wsUrl: string
  rpc: Rpc
  /** Mines one block with these transactions. Throws unless all succeed. */
  mine: (intents?: readonly Intent[]) => Promise<void>
  stop: () => Promise<void>
}

const Receipts = z.array(z.object({ transactionHash: z.string(), status: z.string() }))
/** The node accepts requests of up to 2 MB. */
const TRANSACTIONS_PER_REQUEST = 100

/**
 * Starts a node with only a genesis block, for tests and benches that mine every block themselves. Its files are kept
 * in `dir`. Block times follow the clock; with an older `genesisTimestamp`, they start there and advance with the
 * clock.
 */
export async function startBareChain(
  dir: string,
  options: Partial<Pick<AnvilOptions, 'gasLimit' | 'genesisTimestamp' | 'maxStates' | 'prunesStates'>> = {},
): Promise<BareChain> {
  await mkdir(dir, { recursive: true })
  const { rpc, rpcUrl, stop } = await startAnvil({
    port: 0,
    // A block must be newer than its parent, and the first may be mined at once.
    genesisTimestamp: Math.floor(Date.now() / 1000) - 1,
    cacheDir: join(dir, 'states'),
    pidFile: join(dir, 'anvil.pid'),
    maxStates: 1000,
    ...options,
  })
  const wallet = createWallet(Number(await rpc.call('eth_chainId')), new Map())
  return {
    rpcUrl,
    wsUrl: rpcUrl.replace('http', 'ws'),
    rpc,
    mine: async (intents = []) => {
      const signed = await wallet.sign(intents)
      const labels = new Map<string, string>()
      for (let i = 0; i < signed.length; i += TRANSACTIONS_PER_REQUEST) {
        const part = signed.slice(i, i + TRANSACTIONS_PER_REQUEST)
        const hashes = await rpc.batch(part.map(({ raw }) => ['eth_sendRawTransaction', [raw]] as const))
        for (const [j, { label }] of part.entries()) labels.set(hashes[j] as string, label)
      }
      await rpc.call('evm_mine')
      const receipts = Receipts.parse(await rpc.call('eth_getBlockReceipts', ['latest']))
      for (const [hash, label] of labels) {
        const status = receipts.find(({ transactionHash }) => transactionHash === hash)?.status
        if (status !== '0x1')
          throw new TransactionError(`"${label}" ${status ? 'reverted' : 'was dropped'}`, { retryable: false })
      }
    },
    stop,
  }
}
