import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList } from 'node:net'
import { z } from 'zod'
import { envInt } from './environment.js'

/** Who may read the metrics: programs on this machine, anybody, nobody, or holders of a token. */
export type MetricsAccess = 'loopback' | 'any' | 'off' | { token: string }

/** Shorter tokens could be guessed. */
const SHORTEST_TOKEN = 32

/** METRICS in the environment: who may read the metrics, as a word or as the required token. */
export const metricsAccess = z
  .string()
  .refine(
    (text) => /^(loopback|any|off)$/.test(text) || (/^[\x21-\x7e]+$/.test(text) && text.length >= SHORTEST_TOKEN),
    `must be loopback, any, off, or a token of at least ${SHORTEST_TOKEN} printable ASCII characters without spaces`,
  )
  .transform(
    (text): MetricsAccess => (text === 'loopback' || text === 'any' || text === 'off' ? text : { token: text }),
  )

/** The variables of a process that serves its own metrics, besides its port, to be spread into its own schema. */
export const metricsEnv = {
  METRICS: metricsAccess.default('loopback'),
  METRICS_HOST: z.string().default('127.0.0.1'),
}

/** The port of such a process. Unset: it serves no metrics. 0: a free port, which is logged. */
export const metricsPort = envInt(0, 65_535).optional()

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Header fields that proxies add. Behind a proxy on this machine, all requests come from loopback. */
const FORWARDING_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']

type Reader = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } }

function isLocal({ socket: { remoteAddress = '' }, headers }: Reader): boolean {
  const family = remoteAddress.includes(':') ? 'ipv6' : 'ipv4'
  return loopback.check(remoteAddress, family) && FORWARDING_HEADERS.every((name) => headers[name] === undefined)
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Whether a request may read the metrics: `ok`, `hidden` (to this caller the route does not exist), or `refused`, without
 * the token. The token is compared in constant time.
 */
export function judgeReader(access: MetricsAccess, request: Reader): 'ok' | 'hidden' | 'refused' {
  if (typeof access === 'object') {
    const { authorization = '' } = request.headers
    return timingSafeEqual(digest(authorization), digest(`Bearer ${access.token}`)) ? 'ok' : 'refused'
  }
  return access === 'any' || (access === 'loopback' && isLocal(request)) ? 'ok' : 'hidden'
}
