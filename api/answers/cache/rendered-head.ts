import type { FastifyReply } from 'fastify'
import type { Variant } from './answer.js'

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

/**
 * Remembers the head that an answer from memory was sent with, as every hook of the application left it, but for what
 * belongs to a single request. Node has checked each of its fields when it sent them.
 */
export function rememberHead(variant: Variant, reply: FastifyReply): void {
  const status = reply.statusCode as 200 | 304
  // The 304 of a client that holds another coding has the tag of that one.
  if (variant.heads[status] !== null || reply.getHeader('etag') !== variant.etag) return
  const fields = Object.entries(reply.getHeaders()).filter(([name]) => !OF_ONE_REQUEST.has(name))
  const lines = [FIRST_LINES[status], ...fields.map(([name, value]) => `${name}: ${value}`)]
  // One flat string: what is put together of parts is put together anew whenever it is sent.
  variant.heads[status] = Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1').toString('latin1')
}
