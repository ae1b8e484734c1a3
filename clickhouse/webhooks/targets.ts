import { z } from 'zod'
import { envUrl } from '../../process/environment.js'
import {
  type IpAddress,
  type IpNetwork,
  isInNetwork,
  parseIpAddress,
  parseIpNetwork,
} from '../../process/ip-networks.js'

/**
 * Where webhooks may be sent. `networks` are allowed in addition to the public internet; `ports` apply to every
 * network.
 */
export type TargetRules = { networks: readonly IpNetwork[]; ports: readonly number[] | 'any' }

const MAX_URL_LENGTH = 2048
const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 }

/** The range allocated for use on the internet so far (RFC 4291, IANA); the rest is reserved. */
const GLOBAL_UNICAST = parseIpNetwork('2000::/3') as IpNetwork

/**
 * Why nothing may be sent to an address, in a text without the address; null if it is allowed. Only public addresses
 * and those in `networks` are allowed. An IPv4 address embedded in an IPv6 one (mapped, NAT64, 6to4, Teredo) is
 * refused, public or not: no receiver needs it, and where it leads depends on the network.
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

/** The addresses of a URL's host that need no name server: a literal address, or those of localhost. Otherwise null. */
export function literalAddresses(hostname: string): string[] | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (parseIpAddress(host) !== null) return [host]
  // RFC 6761: every name below localhost is this machine, whatever a name server answers.
  return /(^|\.)localhost\.?$/i.test(host) ? ['127.0.0.1', '::1'] : null
}

/**
 * Why nothing may be sent to a URL; null if it is allowed. Does not look up the addresses of its host name. The URL
 * parser has already normalized other spellings of an IPv4 address (0x7f.1, 2130706433).
 */
export function urlProblem(text: string, rules: TargetRules): string | null {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`
  // The parser would remove or escape them, so the URL that is shown would not be the one that is called.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not have spaces or control characters'
  if (!URL.canParse(text)) return 'must be an absolute URL'
  const url = new URL(text)
  if (url.href.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) return 'must start with https:// or http://'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (text.includes('#')) return 'must not have a fragment'
  // Without one of its dots, such a name may be an address: 127.0.0.1..
  if (/(^|\.)\./.test(url.hostname)) return 'must have a host name without empty parts'
  const port = url.port === '' ? defaultPort : Number(url.port)
  if (port === 0 || (rules.ports !== 'any' && !rules.ports.includes(port))) return 'port not allowed'
  const problems = (literalAddresses(url.hostname) ?? []).map((address) => addressProblem(address, rules))
  return problems.find((problem) => problem !== null) ?? null
}

/** The spelling of a valid URL that is called: the URL parser’s, without an empty user name or a default port. */
export const canonicalUrl = (text: string): string => new URL(text).href

const listed = (text: string): string[] => text.split(',').map((item) => item.trim())

const networks = z.string().transform((text, context): IpNetwork[] => {
  const parsed = listed(text).map(parseIpNetwork)
  const valid = parsed.filter((network) => network !== null)
  if (valid.length < parsed.length) context.addIssue('must be IP addresses and CIDR networks, separated by commas')
  return valid
})

const ports = z
  .string()
  .regex(/^(any|\s*\d{1,5}\s*(,\s*\d{1,5}\s*)*)$/, 'must be any, or TCP ports separated by commas')
  .transform((text) => (text === 'any' ? text : listed(text).map(Number)))
  .refine((list) => list === 'any' || list.every((port) => port >= 1 && port <= 65_535), 'a port is from 1 to 65535')

/** The variables about where webhooks may be sent, for every process that sends them or accepts their URLs. */
export const webhookEnv = {
  WEBHOOK_ALLOWED_NETWORKS: networks.default([]),
  WEBHOOK_ALLOWED_PORTS: ports.default([80, 443]),
}

/** The rules that those variables configure. */
export const targetRules = (config: {
  WEBHOOK_ALLOWED_NETWORKS: IpNetwork[]
  WEBHOOK_ALLOWED_PORTS: number[] | 'any'
}): TargetRules => ({ networks: config.WEBHOOK_ALLOWED_NETWORKS, ports: config.WEBHOOK_ALLOWED_PORTS })

/**
 * The URL of the service in the User-Agent of deliveries; only the sender needs it. Normalized by the URL parser, so
 * that it is valid in a header.
 */
export const WEBHOOK_SITE_URL = envUrl('http', 'https')
  .transform((url) => new URL(url).href)
  .default('http://localhost:3000/')
