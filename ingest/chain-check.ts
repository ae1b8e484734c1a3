import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { chainIdentity } from '../clickhouse/queries/chain-identity.js'
import { insertChainIdentity } from '../clickhouse/tables/chain-identity.js'
import { PlumblineError } from '../domain/errors.js'
import { NETWORKS, type Network } from './chain/networks.js'
import { Quantity, RawHeader } from './sources/answers.js'
import type { Rpc } from './sources/rpc.js'

/** The node serves another chain than the one asked for, or than the one in the database. */
class WrongChainError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/**
 * The node's chain id, after making sure that the node serves `network` and that the database is about the same
 * chain, by chain id and genesis hash. An empty database is about this chain from now on. Throws WrongChainError.
 */
export async function checkChain(clickhouse: ClickHouseClient, rpc: Rpc, network: Network): Promise<number> {
  const [chainId, genesis] = await rpc.persist('read the chain id and the genesis block', () =>
    Promise.all([
      rpc.request('eth_chainId', [], Quantity),
      rpc.request('eth_getBlockByNumber', ['0x0', false], z.object({ hash: RawHeader.shape.hash })),
    ]),
  )
  const expected = NETWORKS[network].chainId
  if (expected !== null && chainId !== expected) {
    throw new WrongChainError(`RPC_URL serves chain ${chainId}, but CHAIN=${network} is chain ${expected}`)
  }
  await insertChainIdentity(clickhouse, { chain_id: chainId, genesis_hash: genesis.hash })
  for (const known of await chainIdentity(clickhouse, {})) {
    if (known.chain_id === chainId && known.genesis_hash === genesis.hash) continue
    throw new WrongChainError(
      `this database is about chain ${known.chain_id} with genesis ${known.genesis_hash}, but RPC_URL serves chain ${chainId} with genesis ${genesis.hash}: name another CLICKHOUSE_DATABASE`,
    )
  }
  return chainId
}
