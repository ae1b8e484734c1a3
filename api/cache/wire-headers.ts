import type { FastifyReply } from 'fastify'
import type { Variant } from './answer.js'

/** What an answer from memory says to this client, at this time. */
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

type Status = 200 | 304
const known = new WeakMap<Variant, Partial<Record<Status, readonly string[]>>>()

/** Remembers the header fields that an answer from memory was sent with, as every hook of the application left them. */
export function learnHeaders(variant: Variant, reply: FastifyReply): void {
  const status = reply.statusCode as Status
  const learned = known.get(variant) ?? {}
  if (learned[status]) return
  const fields = Object.entries(reply.getHeaders()).filter(([name]) => !OF_ONE_REQUEST.has(name))
  known.set(variant, { ...learned, [status]: fields.flatMap(([name, value]) => [name, `${value}`]) })
}

/** Those header fields, name after value, without those of a single request; undefined before one was sent. */
export const wireHeaders = (variant: Variant, status: Status): readonly string[] | undefined =>
  known.get(variant)?.[status]
