import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseIpAddress } from '../../../process/ip-networks.js'
import { memoized } from '../../../process/memory.js'

/** The owner of one address of an IPv6 network controls the whole network: providers assign no smaller ones. */
const IPV6_PREFIX_WORDS = 4

function read(address: string): string {
  // Node always has a valid address, but a proxy may send anything.
  if (parseIpAddress(address) === null) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const words = parsed.parts.slice(0, IPV6_PREFIX_WORDS).map((word) => word.toString(16))
  return `${words.join(':')}::/64`
}

/** Clients come back, and reading an address takes 70 us, longer than the rest of a kept answer. */
const ipv6NetworkOf = memoized(
  { name: 'networks', holds: 'the network that an IPv6 address is limited with', max: 10_000 },
  read,
)

/** The unit of rate limits: an IPv4 address, also one written as IPv6, or the /64 network of an IPv6 address. */
export const networkOf = (address: string): string => (isIPv4(address) ? address : ipv6NetworkOf(address))
