import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** A network in CIDR notation: its first address, and its prefix length. */
export type IpNetwork = readonly [IpAddress, number]

/** An IP address; null for other texts, including the short forms that the library accepts, such as 1 for 0.0.0.1. */
export function parseIpAddress(text: string): IpAddress | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}

/** A network in CIDR notation, or a single address as a network of one; null for other texts. */
export function parseIpNetwork(text: string): IpNetwork | null {
  const address = parseIpAddress(text.split('/', 1)[0] as string)
  if (address === null) return null
  if (!text.includes('/')) return [address, address.toByteArray().length * 8]
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null
}

/** Whether an address is in a network. An IPv4 address is never in an IPv6 network, even if it is written as IPv6. */
export const isInNetwork = (address: IpAddress, [first, bits]: IpNetwork): boolean =>
  address.kind() === first.kind() && address.match(first, bits)
