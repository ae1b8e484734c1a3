import { numberToHex } from 'viem'
import { NETWORKS, type Network } from '../chain/networks.js'
import { RawHeader } from './answers.js'
import type { Rpc } from './rpc.js'

/**
 * The newest block that cannot be replaced any more: the finalized one, or on a chain without finality the one behind
 * the newest by as many blocks as a reorganization may take back, at least block 0.
 */
export async function readFinalized(rpc: Rpc, network: Network): Promise<RawHeader> {
  const { head, deepestReorg } = NETWORKS[network]
  return rpc.persist('read the finalized block', async () => {
    const newest = await rpc.request('eth_getBlockByNumber', [head, false], RawHeader)
    if (deepestReorg === 0) return newest
    const number = numberToHex(Math.max(0, newest.number - deepestReorg))
    return rpc.request('eth_getBlockByNumber', [number, false], RawHeader)
  })
}
