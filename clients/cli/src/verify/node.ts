import {
  BaseError,
  decodeFunctionResult,
  type EIP1193RequestFn,
  encodeFunctionData,
  type Hex,
  http,
  multicall3Abi,
  numberToHex,
} from 'viem'

/** Multicall3 at its canonical address. */
const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'

export type Block = { number: number; hash: Hex /** In unix seconds. */; time: number }
export type Call = { target: Hex; callData: Hex }
/** `returnData` is the call's result, or the revert's data if `success` is false. */
export type CallResult = { success: boolean; returnData: Hex }

/** A log. The address is in lower case. */
export type RawLog = { address: Hex; topics: readonly Hex[]; data: Hex; blockNumber: number; logIndex: number }

/** The node did not answer, or refused. */
export class NodeError extends Error {}

export type ChainNode = {
  chainId: () => Promise<number>
  newest: () => Promise<Block>
  /** null if the node does not have it. */
  block: (number: number) => Promise<Block | null>
  /** All logs of a range of blocks, both ends included, with one of these first topics, in order. Rejects with NodeError. */
  logs: (range: { from: number; to: number }, topics: readonly Hex[]) => Promise<RawLog[]>
  /** Runs calls on the state at the end of a block; one result each, in their order. Rejects with NodeError. */
  run: (block: Block, calls: readonly Call[]) => Promise<CallResult[]>
}

type RpcLog = Omit<RawLog, 'blockNumber' | 'logIndex'> & { blockNumber: Hex; logIndex: Hex }
/** Blocks of logs that are asked for at first, and at most. */
const [FIRST_RANGE, MOST_RANGE] = [10_000, 500_000]

type RpcBlock = { number: Hex; hash: Hex; timestamp: Hex } | null

/** viem's own message continues with the URL, which may contain a key. */
function reasonOf(error: unknown): string {
  if (error instanceof BaseError) return [...new Set([error.shortMessage, error.details])].filter(Boolean).join(' ')
  return error instanceof Error ? error.message : String(error)
}

const blockOf = (answer: RpcBlock): Block | null =>
  answer && { number: Number(answer.number), hash: answer.hash, time: Number(answer.timestamp) }

/** A node at a URL. A call that fails of the network or the node's limits is repeated three times. */
export function nodeAt(url: string): ChainNode {
  const send = http(url, { retryCount: 3, timeout: 30_000 })({}).request as EIP1193RequestFn
  const host = new URL(url).host
  async function ask<Answer>(method: string, params: unknown[]): Promise<Answer> {
    try {
      return (await send({ method, params } as never)) as Answer
    } catch (error) {
      throw new NodeError(`the node at ${host} did not answer ${method}: ${reasonOf(error).replaceAll(url, host)}`)
    }
  }
  const blockBy = async (tag: string): Promise<Block | null> =>
    blockOf(await ask<RpcBlock>('eth_getBlockByNumber', [tag, false]))
  const height = async (): Promise<number> => Number(await ask<Hex>('eth_blockNumber', []))

  async function runOnce(block: Block, calls: readonly Call[]): Promise<CallResult[]> {
    const data = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [calls.map((call) => ({ ...call, allowFailure: true }))],
    })
    // By its hash: should the chain change, the node refuses, and does not answer about another block.
    const answer = await ask<Hex>('eth_call', [{ to: MULTICALL3, data }, { blockHash: block.hash }])
    let results: readonly CallResult[]
    try {
      results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer })
    } catch {
      throw new NodeError(`the node at ${host} has no usable answer about block ${block.number}`)
    }
    // A revert has its reason. A call that ran out of gas has none, and says nothing.
    if (results.length !== calls.length || results.some(({ success, returnData }) => !success && returnData === '0x'))
      throw new NodeError(`the node at ${host} did not run all calls at block ${block.number}`)
    return [...results]
  }

  async function logsOf({ from, to }: { from: number; to: number }, topics: readonly Hex[]): Promise<RawLog[]> {
    const logs: RawLog[] = []
    let size = FIRST_RANGE
    for (let next = from; next <= to; ) {
      const end = Math.min(next + size - 1, to)
      const filter = { fromBlock: numberToHex(next), toBlock: numberToHex(end), topics: [topics] }
      const part = await ask<RpcLog[]>('eth_getLogs', [filter]).catch((error: NodeError) => {
        if (size === 1) throw error
        return null
      })
      size = part === null ? Math.max(1, Math.floor(size / 4)) : Math.min(2 * size, MOST_RANGE)
      if (part === null) continue
      for (const { address, topics, data, blockNumber, logIndex } of part)
        logs.push({
          ...{ address: address.toLowerCase() as Hex, topics, data },
          ...{ blockNumber: Number(blockNumber), logIndex: Number(logIndex) },
        })
      next = end + 1
    }
    return logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  }

  return {
    logs: logsOf,
    chainId: async () => Number(await ask<Hex>('eth_chainId', [])),
    newest: async () => {
      const block = await blockBy('latest')
      if (!block) throw new NodeError(`the node at ${host} has no block`)
      return block
    },
    block: (number) => blockBy(numberToHex(number)),
    run: async (block, calls) => {
      // Development nodes answer about their newest block from the state that they are changing meanwhile.
      for (;;) {
        const wasNewest = (await height()) <= block.number
        const results = await runOnce(block, calls)
        if (!wasNewest || (await height()) <= block.number) return results
      }
    },
  }
}

/**
 * The newest block at or before an instant in unix seconds; null if there is none. `hint`: a block that may be it, which is
 * tried first.
 */
export async function newestBlockAt(node: ChainNode, at: number, hint: number | null): Promise<Block | null> {
  const isLast = (next: Block | null): boolean => next === null || next.time > at
  if (hint !== null) {
    const [hinted, next] = await Promise.all([node.block(hint), node.block(hint + 1)])
    if (hinted && hinted.time <= at && isLast(next)) return hinted
  }
  const newest = await node.newest()
  if (newest.time <= at) return newest
  // The block at `low` is not later than the instant, that at `high` is.
  let found: Block | null = null
  let [low, high] = [-1, newest.number]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const block = await node.block(middle)
    if (!block) throw new NodeError(`the node does not have block ${middle}`)
    if (block.time <= at) [found, low] = [block, middle]
    else high = middle
  }
  return found
}
