import { z } from 'zod'
import { envUrl } from '../../process/environment.js'
import {
  type IpAddress,
  type IpNetwork,
  isInNetwork,
  parseIpAddress,
  parseIpNetwork,
} from '../../process/ip-networks.js'

/** Where webhooks may be sent. `networks`: beside the public internet. `ports`: of any network. */
export type TargetRules = { networks: readonly IpNetwork[]; ports: readonly number[] | 'any' }

const LONGEST_URL = 2048
const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 }

/** What has been given out for use on the internet so far (RFC 4291, IANA); the rest is reserved. */
const GLOBAL_UNICAST = parseIpNetwork('2000::/3') as IpNetwork

/**
 * Why nothing may be sent to an address, in words without the address; null where it may. Only addresses that are public
 * are allowed, and those in `networks`. An IPv4 address inside an IPv6 one (mapped, NAT64, 6to4, Teredo) is refused, public
 * or not: no name of a receiver needs it, and what becomes of it depends on the network.
 */
export function addressProblem(
  address: IpAddress | string,
  { networks }: Pick<TargetRules, 'networks'>,
): string | null {
  const parsed = typeof address === 'string' ? parseIpAddress(address) : address
  if (parsed === null) return 'not an address'
  if (networks.some((network) => isInNetwork(parsed, network))) return null
  const range = parsed.range()
  if (range !== 'unicast') return `address not allowed: ${range}`
  if (parsed.kind() === 'ipv6' && !isInNetwork(parsed, GLOBAL_UNICAST)) return 'address not allowed: reserved'
  return null
}

/** The addresses that a host of a URL says itself, without a name server: a literal one, or localhost's. Else null. */
export function literalAddresses(hostname: string): string[] | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (parseIpAddress(host) !== null) return [host]
  // RFC 6761: every name below localhost is this machine, whatever a name server says.
  return /(^|\.)localhost\.?$/i.test(host) ? ['127.0.0.1', '::1'] : null
}

/**
 * Why nothing may be sent to a URL; null where it may, as far as can be told without asking for the addresses of its name.
 * The parser has turned other spellings of an IPv4 address (0x7f.1, 2130706433) into the usual one.
 */
export function urlProblem(text: string, rules: TargetRules): string | null {
  if (text.length > LONGEST_URL) return `must have at most ${LONGEST_URL} characters`
  // The parser would leave them out, or escape them: what is shown would not be what is called.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not have spaces or control characters'
  if (!URL.canParse(text)) return 'must be an absolute URL'
  const url = new URL(text)
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) return 'must start with https:// or http://'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (text.includes('#')) return 'must not have a fragment'
  const port = url.port === '' ? defaultPort : Number(url.port)
  if (rules.ports !== 'any' && !rules.ports.includes(port)) return 'port not allowed'
  const problems = (literalAddresses(url.hostname) ?? []).map((address) => addressProblem(address, rules))
  return problems.find((problem) => problem !== null) ?? null
}

const listed = (text: string): string[] => text.split(',').map((one) => one.trim())

const networks = z.string().transform((text, context): IpNetwork[] => {
  const parsed = listed(text).map(parseIpNetwork)
  const known = parsed.filter((network) => network !== null)
  if (known.length < parsed.length) context.addIssue('must be IP addresses and CIDR networks, separated by commas')
  return known
})

const ports = z
  .string()
  .regex(/^(any|\s*\d{1,5}\s*(,\s*\d{1,5}\s*)*)$/, 'must be any, or TCP ports separated by commas')
  .transform((text) => (text === 'any' ? text : listed(text).map(Number)))
  .refine((list) => list === 'any' || list.every((port) => port >= 1 && port <= 65_535), 'a port is from 1 to 65535')

/** The variables about where webhooks are sent, for every process that sends them or takes their addresses. */
export const webhookEnv = {
  WEBHOOK_ALLOWED_NETWORKS: networks.default([]),
  WEBHOOK_ALLOWED_PORTS: ports.default([80, 443]),
}

/** Where webhooks may be sent, of what those variables parse to. */
export const targetRules = (config: {
  WEBHOOK_ALLOWED_NETWORKS: IpNetwork[]
  WEBHOOK_ALLOWED_PORTS: number[] | 'any'
}): TargetRules => ({ networks: config.WEBHOOK_ALLOWED_NETWORKS, ports: config.WEBHOOK_ALLOWED_PORTS })

/** What receivers are told of the sender; only who sends needs it. As a URL is written, which a header can hold. */
export const WEBHOOK_SITE_URL = envUrl('http', 'https')
  .transform((url) => new URL(url).href)
  .default('http://localhost:3000/')
