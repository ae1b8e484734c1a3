import { decodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { type RelayedNode, relayedNode } from './relayed-node.js'

type Request = { method: string; params?: readonly unknown[] }

/** What a node was asked about the state of a block: how many eth_calls, with how many calls of contracts in them. */
export type Asked = { requests: number; calls: number; bytes: number }

const callsIn = (data: Hex): number => decodeFunctionData({ abi: multicall3Abi, data }).args[0]?.length ?? 1

/** A proxy of a real node that counts the eth_calls at each block, by its hash. */
export async function countedNode(
  rpcUrl: string,
): Promise<Pick<RelayedNode, 'url' | 'close'> & { at: (hash: string) => Asked }> {
  const asked = new Map<string, Asked>()
  const at = (hash: string): Asked => asked.get(hash) ?? { requests: 0, calls: 0, bytes: 0 }
  const count = ({ method, params = [] }: Request): void => {
    if (method !== 'eth_call') return
    const [{ data }, { blockHash }] = params as [{ data: Hex }, { blockHash: string }]
    const { requests, calls, bytes } = at(blockHash)
    asked.set(blockHash, { requests: requests + 1, calls: calls + callsIn(data), bytes: bytes + data.length / 2 })
  }
  const node = await relayedNode(rpcUrl, (text) => {
    const body = JSON.parse(text) as Request | Request[]
    for (const request of [body].flat()) count(request)
    return 'answered'
  })
  return { url: node.url, close: node.close, at }
}
