import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyReply } from 'fastify'
import type { Variant } from '../answers/cache/answer.js'

/** Header fields that depend on the client, the time or the connection. */
const OF_ONE_REQUEST = new Set([
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'traceresponse',
  'age',
  'date',
  'connection',
  'keep-alive',
])

const FIRST_LINES = { 200: 'HTTP/1.1 200 OK', 304: 'HTTP/1.1 304 Not Modified' }

/**
 * Keeps a head with its answer as the hooks of the application left it, without the fields of a single request. Node
 * checked each field when it was sent.
 */
export function keepHead({ heads, etag }: Variant, reply: FastifyReply): void {
  const status = reply.statusCode as 200 | 304
  // A 304 for another coding has that coding's tag.
  if (heads[status] !== undefined || reply.getHeader('etag') !== etag) return
  const fields = Object.entries(reply.getHeaders()).filter(([name]) => !OF_ONE_REQUEST.has(name))
  const lines = [FIRST_LINES[status], ...fields.map(([name, value]) => `${name}: ${value}`)]
  // One flat string: a concatenated string would be flattened each time it is sent.
  heads[status] = Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1').toString('latin1')
}

/** The client's address, equal to Fastify's `request.ip` with these trusted proxies and networks. */
export function addressOf(trustProxy: string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
