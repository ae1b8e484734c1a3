import { LRUCache } from 'lru-cache'
import { hexToBytes, keccak256, numberToHex } from 'viem'
import { z } from 'zod'
import { RawLog } from '../chain/rpc-answers.js'
import { isRangeRefused, isTimeout } from './range-refusals.js'
import type { Rpc } from './rpc.js'

type Loggish = { address: string; topics: readonly string[] }

// A chain's logs repeat the same addresses and topics: three bit positions each are worth keeping.
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
 * The 2048-bit Bloom filter that a block header carries for these logs, as 0x and 512 digits (Ethereum yellow paper,
 * section 4.3.1). Equal to the header's: the logs are, but for a collision, neither more nor fewer than the block's.
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

/** What eth_getLogs filters by besides the range; nothing asks for all logs. A topic that is null may be any. */
type LogFilter = {
  address?: string | readonly string[]
  topics?: ReadonlyArray<string | readonly string[] | null>
}

/** The most blocks that a node gives logs of at once, as far as it has shown; by filter, as narrow ones may ask more. */
const limits = new WeakMap<Rpc, Map<string, number>>()
const GROWTH = 1.1
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/**
 * The logs of the blocks `from` to `to`, both included, in order. Where the node refuses that many blocks, or that many
 * logs, or does not answer in time, half as many are asked for, and later slowly more again. Tries each range once.
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
      // A node that does not answer may also be gone: whoever persists counts that.
      if (!refused || blocks === 1) throw error
    }
  }
  return logs
}
