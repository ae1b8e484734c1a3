import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'

/** The address that a request is from, as Fastify's `request.ip` has it where it trusts these proxies and networks. */
export function addressOf(trustProxy: string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
