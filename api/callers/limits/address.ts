import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { parseIpAddress } from '../../../process/ip-networks.js'

/** The owner of one address of an IPv6 network controls the whole network: providers assign no smaller ones. */
const IPV6_PREFIX_WORDS = 4

/** Clients come back, and parsing an address takes longer than the rest of a cached answer. */
const networks = new LRUCache<string, string>({ max: 10_000 })

/** The unit of rate limits: an IPv4 address, also one written as IPv6, or the /64 network of an IPv6 address. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const before = networks.get(address)
  if (before !== undefined) return before
  const network = read(address)
  networks.set(address, network)
  return network
}

function read(address: string): string {
  // Node always has a valid address, but a proxy may send anything.
  if (parseIpAddress(address) === null) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const words = parsed.parts.slice(0, IPV6_PREFIX_WORDS).map((word) => word.toString(16))
  return `${words.join(':')}::/64`
}
