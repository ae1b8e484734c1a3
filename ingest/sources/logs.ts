import { hexToBytes, keccak256, numberToHex } from 'viem'
import type { BlockRange } from '../chain/block-ranges.js'
import { remembered } from '../chain/remembered.js'
import { type RawLog, RawLogs } from '../chain/rpc-answers.js'
import { isRateLimited, offeredBlocks } from './refusals.js'
import { createRequestSize, type RequestSize, type RequestSizeOptions } from './request-size.js'
import type { Rpc } from './rpc.js'

type Loggish = { address: string; topics: readonly string[] }

/** The three bit positions of an address or topic. */
const bitsOf = remembered((item): readonly [number, number, number] => {
  const digest = hexToBytes(keccak256(item as `0x${string}`))
  const bit = (at: number): number => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047
  return [bit(0), bit(2), bit(4)]
})

/**
 * The 2048-bit Bloom filter that a block header carries for these logs, as 0x and 512 hex digits (Ethereum yellow
 * paper, section 4.3.1). If it equals the header's, the logs are complete and exact, except for a hash collision.
 */
export function logsBloom(logs: readonly Loggish[]): string {
  const filter = Buffer.alloc(256)
  const add = (item: string): void => {
    const bits = bitsOf(item)
    for (let i = 0; i < bits.length; i++) {
      const bit = bits[i] as number
      filter[255 - (bit >> 3)] = (filter[255 - (bit >> 3)] as number) | (1 << (bit & 7))
    }
  }
  for (const { address, topics } of logs) {
    add(address)
    topics.forEach(add)
  }
  return `0x${filter.toString('hex')}`
}

/** Whether a block whose header has this filter may have a log with an address or topic; false is certain. */
export function mayContain(bloom: string, item: string): boolean {
  const filter = hexToBytes(bloom as `0x${string}`)
  return bitsOf(item).every((bit) => ((filter[255 - (bit >> 3)] as number) >> (bit & 7)) & 1)
}

/** What eth_getLogs filters by besides the range; an empty filter requests all logs. A null topic matches any. */
export type LogFilter = {
  address?: string | readonly string[]
  topics?: ReadonlyArray<string | readonly string[] | null>
}

/** Rejects with RpcAnswerError if logs are not those of a range. */
type CheckLogs = (logs: readonly RawLog[], range: BlockRange) => Promise<void>

/** After so many refusals because of its rate, a request counts as failed: some nodes refuse a wide range like that. */
const MOST_RATE_REFUSALS = 5

/**
 * One request for the logs of a range of blocks, both ends included, which `check` must accept, and from which `size`
 * learns. Resolves to null if it failed and the next one is for fewer blocks. What a node says about a range that is too
 * wide differs, and many say nothing, so every failure of more than one block counts.
 */
export async function requestLogs(
  rpc: Rpc,
  filter: LogFilter,
  range: BlockRange,
  size: RequestSize,
  check?: CheckLogs,
): Promise<RawLog[] | null> {
  const { from, to } = range
  const blocks = to - from + 1
  const began = performance.now()
  try {
    const bounds = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    const patience = blocks === 1 ? undefined : size.isDoubtful(blocks) ? 1 : MOST_RATE_REFUSALS
    const logs = await rpc.request('eth_getLogs', [bounds], RawLogs, patience)
    const ms = performance.now() - began
    await check?.(logs, range)
    size.answered(blocks, from, logs.length, ms)
    return logs
  } catch (error) {
    const offered = isRateLimited(error) ? Math.floor(blocks / 2) : offeredBlocks(error, range)
    if (size.failed(blocks, from, offered)) return null
    throw error
  }
}

const sizes = new WeakMap<Rpc, Map<string, RequestSize>>()

/**
 * How many blocks of logs to ask a node for, as learned so far; per filter, because narrow ones allow more blocks.
 * `options` say where it begins.
 */
export function logsSize(rpc: Rpc, filter: LogFilter, options: RequestSizeOptions): RequestSize {
  const key = JSON.stringify([filter, options])
  const sizesOfNode = sizes.get(rpc) ?? new Map<string, RequestSize>()
  sizes.set(rpc, sizesOfNode)
  const size = sizesOfNode.get(key) ?? createRequestSize(options)
  sizesOfNode.set(key, size)
  return size
}

const UNLIMITED = {
  first: Number.MAX_SAFE_INTEGER,
  most: Number.MAX_SAFE_INTEGER,
  mostResults: Number.MAX_SAFE_INTEGER,
}

/**
 * The logs of the blocks `from` to `to`, both included, in order, which `check` must accept. Where a request fails twice,
 * asks for fewer blocks at once, and later gradually for more again. Rejects with the first failure of a request.
 */
export async function readLogs(
  rpc: Rpc,
  filter: LogFilter,
  from: number,
  to: number,
  check?: CheckLogs,
): Promise<RawLog[]> {
  const size = logsSize(rpc, filter, UNLIMITED)
  const logs: RawLog[] = []
  for (let next = from; next <= to; ) {
    const last = Math.min(to, next + size.next() - 1)
    const answer = await requestLogs(rpc, filter, { from: next, to: last }, size, check)
    if (!answer) continue
    for (const log of answer) logs.push(log)
    next = last + 1
  }
  return logs
}
