import type { FastifyReply, FastifyRequest } from 'fastify'
import { METHODOLOGY_HEADER } from '../../../process/methodology.js'
import { matchingEtag, type Variant } from './answer.js'
import type { Outcome } from './answer-cache.js'

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

/** RFC 9211. A ttl below 0 says that the answer is older than it should be, by that many seconds. */
function cacheStatus({ how, answer, ageMs }: Outcome): string {
  if (how === 'hit') return 'plumbline; hit'
  if (how === 'miss') return 'plumbline; fwd=miss'
  return `plumbline; hit; ttl=${Math.floor((answer.freshness.maxAgeMs - ageMs) / 1000)}; detail=stale`
}

/** What says something of a body: a 304 has none, and the client has these fields with his (RFC 9110, 15.4.5). */
const OF_BODIES = [
  'content-security-policy',
  'strict-transport-security',
  'x-content-type-options',
  METHODOLOGY_HEADER,
] as const

/** Sends an answer in one of its codings, or the 304 of a client that has it already. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Outcome,
  variant: Variant,
): FastifyReply {
  const { answer, ageMs } = outcome
  reply.header('cache-status', cacheStatus(outcome))
  const age = Math.floor(ageMs / 1000)
  if (age > 0) reply.header('age', `${age}`)
  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined) {
    const etag = ifNoneMatch === variant.etag ? variant.etag : matchingEtag(ifNoneMatch, answer.digest)
    if (etag !== null) {
      for (const name of OF_BODIES) reply.removeHeader(name)
      return reply.code(304).headers(answer.headers).header('etag', etag).send()
    }
  }
  return reply.headers(variant.headers).send(variant.body)
}
