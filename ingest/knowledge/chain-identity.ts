import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { type ChainIdentity, chainIdentities, insertChainIdentity } from '../../clickhouse/chain/identity.js'
import { PlumblineError } from '../../process/errors.js'
import { NETWORKS, type Network } from '../chain/networks.js'
import { Quantity, RawHeader } from '../chain/rpc-answers.js'
import type { Rpc } from '../sources/rpc.js'

/** The node serves another chain than the one asked for, or than the one in the database. */
class WrongChainError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** Throws WrongChainError unless the node, asked again, still serves this chain. */
export function checkChainId(answered: number, chainId: number): void {
  if (answered === chainId) return
  throw new WrongChainError(`RPC_URL served chain ${chainId}, and now serves chain ${answered}`)
}

/** Which chain the node serves, asked twice. Throws WrongChainError when it is not `network`, or not one. */
export async function readChainIdentity(rpc: Rpc, network: Network): Promise<ChainIdentity> {
  const [chain_id, genesis] = await rpc.persist('read the chain id and the genesis block', () =>
    Promise.all([
      rpc.request('eth_chainId', [], Quantity),
      rpc.request('eth_getBlockByNumber', ['0x0', false], z.object({ hash: RawHeader.shape.hash })),
    ]),
  )
  // One node of several behind an address may be of another chain.
  const again = await rpc.persist('read the chain id', () => rpc.request('eth_chainId', [], Quantity))
  checkChainId(again, chain_id)
  const expected = NETWORKS[network].chainId
  if (expected !== null && chain_id !== expected) {
    throw new WrongChainError(`RPC_URL serves chain ${chain_id}, but CHAIN=${network} is chain ${expected}`)
  }
  return { chain_id, genesis_hash: genesis.hash }
}

/** Throws WrongChainError when the database is about another chain. An empty one is about `chain` from now on. */
export async function claimDatabase(clickhouse: ClickHouseClient, chain: ChainIdentity): Promise<void> {
  await insertChainIdentity(clickhouse, chain, 'the-first')
  // A kill between the note of the token and the row leaves no row, and a note that refuses every other.
  if ((await chainIdentities(clickhouse)).length === 0) await insertChainIdentity(clickhouse, chain, randomUUID())
  for (const known of await chainIdentities(clickhouse)) {
    if (known.chain_id === chain.chain_id && known.genesis_hash === chain.genesis_hash) continue
    throw new WrongChainError(
      `this database is about chain ${known.chain_id} with genesis ${known.genesis_hash}, but RPC_URL serves chain ${chain.chain_id} with genesis ${chain.genesis_hash}: name another CLICKHOUSE_DATABASE`,
    )
  }
}
