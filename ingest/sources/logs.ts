import { LRUCache } from 'lru-cache'
import { hexToBytes, keccak256, numberToHex } from 'viem'
import { z } from 'zod'
import { RawLog } from '../chain/rpc-answers.js'
import { isRangeRefused, isTimeout } from './range-refusals.js'
import type { Rpc } from './rpc.js'

type Loggish = { address: string; topics: readonly string[] }

// A chain's logs repeat the same addresses and topics, so the three bit positions of each are cached.
const positions = new LRUCache<string, readonly [number, number, number]>({ max: 100_000 })

function bitsOf(item: string): readonly [number, number, number] {
  const known = positions.get(item)
  if (known) return known
  const digest = hexToBytes(keccak256(item as `0x${string}`))
  const bit = (at: number): number => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047
  const bits = [bit(0), bit(2), bit(4)] as const
  positions.set(item, bits)
  return bits
}

/**
 * The 2048-bit Bloom filter that a block header carries for these logs, as 0x and 512 hex digits (Ethereum yellow
 * paper, section 4.3.1). If it equals the header's, the logs are complete and exact, except for a hash collision.
 */
export function logsBloom(logs: readonly Loggish[]): string {
  const filter = Buffer.alloc(256)
  for (const { address, topics } of logs) {
    for (const item of [address, ...topics]) {
      for (const bit of bitsOf(item)) filter[255 - (bit >> 3)] = (filter[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
    }
  }
  return `0x${filter.toString('hex')}`
}

/** What eth_getLogs filters by besides the range; an empty filter requests all logs. A null topic matches any. */
type LogFilter = {
  address?: string | readonly string[]
  topics?: ReadonlyArray<string | readonly string[] | null>
}

/**
 * The most blocks whose logs a node returns at once, as learned so far; per filter, because narrow ones allow more
 * blocks.
 */
const limits = new WeakMap<Rpc, Map<string, number>>()
const GROWTH = 1.1
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/**
 * The logs of the blocks `from` to `to`, both included, in order. If the node refuses that many blocks or logs, or does
 * not answer in time, requests half as many blocks, and later gradually more again. Tries each range once.
 */
export async function readLogs(rpc: Rpc, filter: LogFilter, from: number, to: number): Promise<RawLog[]> {
  const key = JSON.stringify(filter)
  const own = limits.get(rpc) ?? new Map<string, number>()
  limits.set(rpc, own)
  const logs: RawLog[] = []
  for (let next = from; next <= to; ) {
    const limit = own.get(key) ?? NO_LIMIT
    const last = Math.min(to, next + limit - 1)
    const blocks = last - next + 1
    try {
      const range = { ...filter, fromBlock: numberToHex(next), toBlock: numberToHex(last) }
      for (const log of await rpc.request('eth_getLogs', [range], z.array(RawLog))) logs.push(log)
      if (blocks === limit) own.set(key, Math.ceil(limit * GROWTH))
      next = last + 1
    } catch (error) {
      const refused = isRangeRefused(error)
      if (blocks > 1 && (refused || isTimeout(error))) own.set(key, Math.min(limit, Math.floor(blocks / 2)))
      // A node that does not answer may also be down: the caller's retries count that.
      if (!refused || blocks === 1) throw error
    }
  }
  return logs
}
