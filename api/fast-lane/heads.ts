import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyReply } from 'fastify'
import type { Variant } from '../answers/cache/answer.js'

type Status = 200 | 304

/** What an answer from memory says to this client, at this time, on this connection. */
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

/** The heads that answers from memory were sent with. */
export type Heads = {
  /**
   * Remembers a head as every hook of the application left it, except for what belongs to a single request. Node has
   * checked each of its fields when it sent them.
   */
  remember: (variant: Variant, reply: FastifyReply) => void
  /** The head that an answer had with a status, up to its last field; undefined before it was first sent. */
  find: (variant: Variant, status: Status) => string | undefined
}

export function createHeads(): Heads {
  const heads = new WeakMap<Variant, { 200?: string; 304?: string }>()
  return {
    remember: (variant, reply) => {
      const status = reply.statusCode as Status
      const known = heads.get(variant) ?? {}
      // The 304 of a client that holds another coding has the tag of that one.
      if (known[status] !== undefined || reply.getHeader('etag') !== variant.etag) return
      const fields = Object.entries(reply.getHeaders()).filter(([name]) => !OF_ONE_REQUEST.has(name))
      const lines = [FIRST_LINES[status], ...fields.map(([name, value]) => `${name}: ${value}`)]
      // One flat string: a string made of parts is put together again whenever it is sent.
      known[status] = Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1').toString('latin1')
      heads.set(variant, known)
    },
    find: (variant, status) => heads.get(variant)?.[status],
  }
}

/** The address that a request is from, as Fastify's `request.ip` has it where it trusts these proxies and networks. */
export function addressOf(trustProxy: string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
