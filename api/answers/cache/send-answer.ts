import type { FastifyReply, FastifyRequest } from 'fastify'
import { METHODOLOGY_HEADER } from '../../../process/methodology.js'
import { matchingEtag, type Variant } from './answer.js'
import type { Outcome } from './answer-cache.js'

/** RFC 9211. A negative ttl means that the answer is older than it should be, by that many seconds. */
function cacheStatus({ how, answer, ageMs }: Outcome): string {
  if (how === 'hit') return 'plumbline; hit'
  if (how === 'miss') return 'plumbline; fwd=miss'
  return `plumbline; hit; ttl=${Math.floor((answer.freshness.maxAgeMs - ageMs) / 1000)}; detail=stale`
}

/**
 * Header fields that describe the body: a 304 has none, and the client has these fields with its own copy (RFC 9110,
 * 15.4.5).
 */
const OF_BODIES = [
  'content-security-policy',
  'strict-transport-security',
  'x-content-type-options',
  METHODOLOGY_HEADER,
] as const

/** Sends an answer in one of its codings, or a 304 to a client that has it already. */
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
