import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Once `app.draining` is aborted, every answer says that it is the last of its connection, those of requests that are
 * already running too: whoever keeps connections open goes elsewhere, and none is cut in the middle of a request.
 */
export function drain(app: FastifyInstance): void {
  const running = new Set<ServerResponse>()
  const sayLast = (raw: ServerResponse): void => {
    if (!raw.headersSent) raw.setHeader('connection', 'close')
  }
  app.draining.addEventListener('abort', () => running.forEach(sayLast), { once: true })
  app.addHook('onRequest', (_, { raw }, done) => {
    if (app.draining.aborted) sayLast(raw)
    running.add(raw)
    raw.once('close', () => running.delete(raw))
    done()
  })
}
