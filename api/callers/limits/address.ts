import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { parseIpAddress } from '../../../process/ip-networks.js'

/** Whoever has one address of an IPv6 network has all of them: providers give out no smaller ones. */
const IPV6_PREFIX_WORDS = 4

/** Whoever asks asks again; to read an address takes longer than all else that is done for an answer from memory. */
const known = new LRUCache<string, string>({ max: 10_000 })

/** What is counted as one asker: an IPv4 address, also one written as IPv6, or the /64 network of an IPv6 address. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const before = known.get(address)
  if (before !== undefined) return before
  const network = read(address)
  known.set(address, network)
  return network
}

function read(address: string): string {
  // Node never has another, but a proxy may send anything.
  if (parseIpAddress(address) === null) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const words = parsed.parts.slice(0, IPV6_PREFIX_WORDS).map((word) => word.toString(16))
  return `${words.join(':')}::/64`
}
