import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whoever has one address of an IPv6 network has all of them: providers give out no smaller ones. */
const IPV6_PREFIX_WORDS = 4

/** Not the short forms that the library also takes, such as 1 for 0.0.0.1. */
const isAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)

/** What is counted as one asker: an IPv4 address, also one written as IPv6, or the /64 network of an IPv6 address. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  // Node never has another, but a proxy may send anything.
  if (!isAddress(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const words = parsed.parts.slice(0, IPV6_PREFIX_WORDS).map((word) => word.toString(16))
  return `${words.join(':')}::/64`
}

/** Whether a text is an IP address or a network in CIDR notation. */
export const isNetwork = (text: string): boolean =>
  isAddress(text.split('/', 1)[0] as string) && (!text.includes('/') || ipaddr.isValidCIDR(text))
