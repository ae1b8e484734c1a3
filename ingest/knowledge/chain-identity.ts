import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { type ChainIdentity, chainIdentities, insertChainIdentity } from '../../clickhouse/chain/identity.js'
import { PlumblineError } from '../../process/errors.js'
import { NETWORKS, type Network } from '../chain/networks.js'
import { Quantity, RawHeader } from '../chain/rpc-answers.js'
import type { Rpc } from '../sources/rpc.js'

/** The node serves another chain than CHAIN names, or than the database holds. */
class WrongChainError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** Throws WrongChainError unless the node still serves this chain. */
export function checkChainId(answered: number, chainId: number): void {
  if (answered === chainId) return
  throw new WrongChainError(`RPC_URL served chain ${chainId}, and now serves chain ${answered}`)
}

/**
 * Asks the node twice which chain it serves. Throws WrongChainError if it is not `network`, or if the answers differ.
 */
export async function readChainIdentity(rpc: Rpc, network: Network): Promise<ChainIdentity> {
  const [chain_id, genesis] = await rpc.persist('read the chain id and the genesis block', () =>
    Promise.all([
      rpc.request('eth_chainId', [], Quantity),
      rpc.request('eth_getBlockByNumber', ['0x0', false], z.object({ hash: RawHeader.shape.hash })),
    ]),
  )
  // One of several nodes behind an address may serve another chain.
  const again = await rpc.persist('read the chain id', () => rpc.request('eth_chainId', [], Quantity))
  checkChainId(again, chain_id)
  const expected = NETWORKS[network].chainId
  if (expected !== null && chain_id !== expected) {
    throw new WrongChainError(`RPC_URL serves chain ${chain_id}, but CHAIN=${network} is chain ${expected}`)
  }
  return { chain_id, genesis_hash: genesis.hash }
}

/** Throws WrongChainError if the database holds another chain. An empty database is bound to `chain` from now on. */
export async function claimDatabase(clickhouse: ClickHouseClient, chain: ChainIdentity): Promise<void> {
  await insertChainIdentity(clickhouse, chain, 'the-first')
  // A kill between recording the token and storing the row leaves no row, and a token that rejects every other insert.
  if ((await chainIdentities(clickhouse)).length === 0) await insertChainIdentity(clickhouse, chain, randomUUID())
  for (const identity of await chainIdentities(clickhouse)) {
    if (identity.chain_id === chain.chain_id && identity.genesis_hash === chain.genesis_hash) continue
    throw new WrongChainError(
      `this database holds chain ${identity.chain_id} with genesis ${identity.genesis_hash}, but RPC_URL serves chain ${chain.chain_id} with genesis ${chain.genesis_hash}: set another CLICKHOUSE_DATABASE`,
    )
  }
}
