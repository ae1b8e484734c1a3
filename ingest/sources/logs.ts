import { hexToBytes, keccak256, numberToHex } from 'viem'
import type { BlockRange } from '../chain/block-ranges.js'
import { remembered } from '../chain/remembered.js'
import { type RawLog, RawLogs } from '../chain/rpc-answers.js'
import { isRangeRefused, isTimeout, offeredBlocks } from './range-refusals.js'
import { createRangeSize, type RangeSize } from './range-size.js'
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

/** What eth_getLogs filters by besides the range; an empty filter requests all logs. A null topic matches any. */
export type LogFilter = {
  address?: string | readonly string[]
  topics?: ReadonlyArray<string | readonly string[] | null>
}

/**
 * One request for the logs of a range of blocks, both ends included, from which `size` learns. Resolves to null if the
 * node refuses that many blocks or logs, so that fewer may succeed.
 */
export async function requestLogs(
  rpc: Rpc,
  filter: LogFilter,
  { from, to }: BlockRange,
  size: RangeSize,
): Promise<RawLog[] | null> {
  const blocks = to - from + 1
  const began = performance.now()
  try {
    const range = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    const logs = await rpc.request('eth_getLogs', [range], RawLogs)
    size.answered(blocks, logs.length, performance.now() - began)
    return logs
  } catch (error) {
    const isRefused = isRangeRefused(error)
    if (blocks > 1 && (isRefused || isTimeout(error))) size.refused(blocks, offeredBlocks(error, { from, to }))
    // A node that does not answer may also be down: the caller's retries count that.
    if (!isRefused || blocks === 1) throw error
    return null
  }
}

/**
 * The most blocks whose logs a node returns at once, as learned so far; per filter, because narrow ones allow more
 * blocks.
 */
const sizes = new WeakMap<Rpc, Map<string, RangeSize>>()
const UNLIMITED = {
  first: Number.MAX_SAFE_INTEGER,
  most: Number.MAX_SAFE_INTEGER,
  mostResults: Number.MAX_SAFE_INTEGER,
}

/**
 * The logs of the blocks `from` to `to`, both included, in order. If the node refuses that many blocks or logs,
 * requests fewer, and later gradually more again. Rejects if it does not answer in time; the next call then requests fewer.
 */
export async function readLogs(rpc: Rpc, filter: LogFilter, from: number, to: number): Promise<RawLog[]> {
  const key = JSON.stringify(filter)
  const sizesOfNode = sizes.get(rpc) ?? new Map<string, RangeSize>()
  sizes.set(rpc, sizesOfNode)
  const size = sizesOfNode.get(key) ?? createRangeSize(UNLIMITED)
  sizesOfNode.set(key, size)
  const logs: RawLog[] = []
  for (let next = from; next <= to; ) {
    const last = Math.min(to, next + size.blocks() - 1)
    const answer = await requestLogs(rpc, filter, { from: next, to: last }, size)
    if (!answer) continue
    for (const log of answer) logs.push(log)
    next = last + 1
  }
  return logs
}
