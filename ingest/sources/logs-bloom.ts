import { LRUCache } from 'lru-cache'
import { hexToBytes, keccak256 } from 'viem'

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
