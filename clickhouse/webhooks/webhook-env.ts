import { z } from 'zod'
import { envUrl } from '../../process/environment.js'
import { type Network, parseNetwork } from '../../process/ip-networks.js'
import type { TargetRules } from './webhook-target.js'

const listed = (text: string): string[] => text.split(',').map((one) => one.trim())

const networks = z.string().transform((text, context): Network[] => {
  const parsed = listed(text).map(parseNetwork)
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
  WEBHOOK_ALLOWED_NETWORKS: Network[]
  WEBHOOK_ALLOWED_PORTS: number[] | 'any'
}): TargetRules => ({ networks: config.WEBHOOK_ALLOWED_NETWORKS, ports: config.WEBHOOK_ALLOWED_PORTS })

/** What receivers are told of the sender; only who sends needs it. As a URL is written, which a header can hold. */
export const WEBHOOK_SITE_URL = envUrl('http', 'https')
  .transform((url) => new URL(url).href)
  .default('http://localhost:3000/')
