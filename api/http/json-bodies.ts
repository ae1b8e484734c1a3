import type { FastifyInstance } from 'fastify'
import { ProblemError } from './errors.js'

/** Bodies that are not UTF-8 are refused, because replacing the wrong bytes would change what they say. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses JSON in UTF-8. An empty body is none: routes without a body take it, others report what is missing. Keys that
 * could reach a prototype are refused.
 */
export function jsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    let text: string
    try {
      text = utf8.decode(body as Buffer)
    } catch {
      return done(new ProblemError('the body is not valid UTF-8', { status: 400, kind: 'bad-request' }))
    }
    return parse(request, text, done)
  })
}
