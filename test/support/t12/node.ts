import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hex, numberToHex } from 'viem'
import { createRpc, type Rpc, type RpcCall } from '../../../local/chain/rpc.js'
import { type Injected, type Json, type LocalBlock, nextBlock, type T12Block, type T12Options } from './blocks.js'
import { answerOf } from './state.js'

/** How many blocks are asked for at a time. */
const BATCH = 40
/** The protocol's contract of block hashes (EIP-2935). */
const BLOCK_HASHES = '0x0000f90827f1c53a10cb7a02335b175320002935'
/** `tempo_forkSchedule` as a node of the main network answered in November 2026. */
const FORKS = { T11: 1_789_048_800, T12: 1_791_900_000 }
const SCHEDULE = {
  active: 'T12',
  schedule: Object.entries(FORKS).map(([name, activationTime]) => ({ name, activationTime, active: true })),
}

export type T12Node = {
  url: string
  /** Its blocks from the genesis block on, as many as the local chain has. */
  blocks: () => Promise<readonly T12Block[]>
  /**
   * Adds a log to a block, before any reads it: else the block and all after it get other hashes, as by a reorganization. What
   * the log tells has no effect on states.
   */
  inject: (log: Injected) => void
  close: () => Promise<void>
}

type Request = { id: unknown; method: string; params?: unknown[] }
type Filter = { fromBlock?: string; toBlock?: string; blockHash?: string; address?: string | string[]; topics?: Topics }
type Topics = ReadonlyArray<string | readonly string[] | null>

const includes = (wanted: string | readonly string[] | null | undefined, text: string | undefined): boolean =>
  wanted === null || wanted === undefined || [wanted].flat().some((one) => one.toLowerCase() === text)

class RefusedError extends Error {}

/** The blocks of T12, made of the local chain's as far as they are asked for. */
function t12Blocks(rpc: Rpc, options: T12Options) {
  const blocks: T12Block[] = []
  const injected: Injected[] = []
  const byHash = new Map<string, T12Block>()

  /** Leaves out the blocks that the local chain no longer has. Returns the number of its newest. */
  async function forgetReplaced(): Promise<number> {
    for (;;) {
      const last = blocks.at(-1)
      const kept = ['eth_getBlockByNumber', [numberToHex(last?.number ?? 0), false]] as const
      const [head, header] = await rpc.batch([['eth_blockNumber'], kept])
      if (!last || (header as Json | null)?.hash === last.localHash) return Number(head)
      blocks.length = Math.min(blocks.length - 1, Number(head) + 1)
    }
  }

  async function extend(): Promise<void> {
    const head = await forgetReplaced()
    while (blocks.length <= head) {
      const numbers = Array.from({ length: Math.min(BATCH, head + 1 - blocks.length) }, (_, i) => blocks.length + i)
      const calls = numbers.flatMap((number): RpcCall[] => [
        ['eth_getBlockByNumber', [numberToHex(number), true]],
        ['eth_getBlockReceipts', [numberToHex(number)]],
      ])
      const answers = await rpc.batch(calls)
      // A log was added meanwhile.
      if (blocks.length !== numbers[0]) continue
      numbers.forEach((number, i) => {
        const local = { header: answers[2 * i], receipts: answers[2 * i + 1] ?? [] } as LocalBlock
        const added = injected.filter(({ block }) => block === number)
        const block = nextBlock(blocks.at(-1) ?? null, local, added, options)
        blocks.push(block)
        byHash.set(block.hash, block)
      })
    }
  }

  // One after the other, since a block is made of its parent; whoever waits for the next shares it.
  let running = Promise.resolve()
  let next: Promise<void> | null = null
  const all = async (): Promise<readonly T12Block[]> => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null
        running = extend()
        return running
      })
    await next
    return blocks
  }
  return {
    all,
    byHash: async (hash: string): Promise<T12Block | null> => {
      const block = byHash.get(hash)
      return block && (await all())[block.number] === block ? block : null
    },
    byNumber: async (number: string): Promise<T12Block | null> => {
      if (number.startsWith('0x')) return (await all())[Number(number)] ?? null
      const header = (await rpc.call('eth_getBlockByNumber', [number, false])) as Json | null
      return header && ((await all())[Number(header.number)] ?? null)
    },
    inject: (log: Injected): void => {
      injected.push({ ...log, address: log.address.toLowerCase() })
      blocks.length = Math.min(blocks.length, log.block)
    },
  }
}

/** How the node answers what it does not pass on to the local chain's. */
function answers(rpc: Rpc, blocks: ReturnType<typeof t12Blocks>) {
  const shown = (block: T12Block | null, isFull: unknown): Json | null =>
    block && { ...block.header, transactions: block.transactions.map((one) => (isFull ? one : one.hash)) }

  async function logs({ fromBlock = 'latest', toBlock = 'latest', blockHash, address, topics = [] }: Filter) {
    const all = await blocks.all()
    const at = async (place: string): Promise<number> =>
      place.startsWith('0x') ? Number(place) : ((await blocks.byNumber(place))?.number ?? 0)
    const from = await at(fromBlock)
    if (from >= all.length) throw new RefusedError(`block ${from} is out of range`)
    const range = blockHash ? [await blocks.byHash(blockHash)] : all.slice(from, (await at(toBlock)) + 1)
    return range
      .flatMap((block) => block?.logs ?? [])
      .filter((log) => includes(address, log.address) && topics.every((topic, i) => includes(topic, log.topics[i])))
  }

  async function transactionParts(hash: unknown) {
    for (const { transactions, receipts } of (await blocks.all()).toReversed()) {
      const at = transactions.findIndex((transaction) => transaction.hash === hash)
      if (at >= 0) return { transaction: transactions[at], receipt: receipts[at] }
    }
    return { transaction: null, receipt: null }
  }

  async function call(request: { to: string; data: Hex }, place: unknown, ...overrides: unknown[]): Promise<Hex> {
    const named = typeof place === 'object' ? (place as { blockHash?: string; blockNumber?: string }) : {}
    const number = typeof place === 'string' ? place : (named.blockNumber ?? 'latest')
    const block = await (named.blockHash ? blocks.byHash(named.blockHash) : blocks.byNumber(number))
    if (!block) throw new RefusedError('header not found')
    const answer = (await rpc.call('eth_call', [request, { blockHash: block.localHash }, ...overrides])) as Hex
    const own = request.data ? answerOf(block, request, answer) : answer
    if (own === null) throw new RefusedError('execution reverted')
    return own
  }

  async function storage(address: string, slot: string, place: string): Promise<unknown> {
    const value = await rpc.call('eth_getStorageAt', [address, slot, place])
    if (address.toLowerCase() !== BLOCK_HASHES) return value
    return (await blocks.all()).findLast(({ localHash }) => localHash === value)?.hash ?? value
  }

  const methods: Record<string, (...params: never[]) => Promise<unknown>> = {
    eth_getBlockByNumber: async (number: string, isFull: unknown) => shown(await blocks.byNumber(number), isFull),
    eth_getBlockByHash: async (hash: string, isFull: unknown) => shown(await blocks.byHash(hash), isFull),
    eth_getBlockReceipts: async (number: string) => (await blocks.byNumber(number))?.receipts ?? null,
    eth_getLogs: logs,
    eth_getTransactionByHash: async (hash: string) => (await transactionParts(hash)).transaction,
    eth_getTransactionReceipt: async (hash: string) => (await transactionParts(hash)).receipt,
    eth_call: call,
    eth_getStorageAt: storage,
    tempo_forkSchedule: async () => SCHEDULE,
  }
  return async ({ id, method, params = [] }: Request): Promise<Json> => {
    const answered = { jsonrpc: '2.0', id }
    const own = methods[method]
    if (!own) {
      const [answer] = await rpc.attempt([[method, params]])
      if (!answer || 'result' in answer) return { ...answered, result: answer?.result ?? null }
      return { ...answered, error: { code: -32_000, message: answer.error } }
    }
    try {
      return { ...answered, result: await own(...(params as never[])) }
    } catch (error) {
      return { ...answered, error: { code: -32_602, message: (error as Error).message } }
    }
  }
}

/**
 * A node whose chain is at T12, in front of a local one at T4. Real are the local chain's blocks, transactions and states. Made
 * are: the ids of flipped orders (`OrderFlipped`, `FlipFailed`), the quotes (by T12's rule, from those orders), milliseconds
 * and blocks that share a second, fee tokens of receipts; and transactions of accounts that the local chain does not have,
 * which do what T4 cannot (`economy.ts`). Blooms, hashes, parents and log indices are those of the result, and balances,
 * supplies and roles at a block are the local chain's with what was made up to it. Calls cost the gas that they cost at T4.
 */
export async function t12Node(localUrl: string, options: T12Options): Promise<T12Node> {
  const rpc = createRpc(localUrl)
  const blocks = t12Blocks(rpc, options)
  const answer = answers(rpc, blocks)
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Request | Request[]
    const answered = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered))
  }
  // A caller that ends meanwhile, or a local node that does, is a dropped request.
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    blocks: blocks.all,
    inject: blocks.inject,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
