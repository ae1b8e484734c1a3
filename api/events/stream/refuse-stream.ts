import type { FastifyReply, FastifyRequest } from 'fastify'
import { PlumblineError } from '../../../process/errors.js'
import { sendProblem } from '../../http/problem.js'
import { notNowMessage } from './messages.js'

/** Clients that cannot be served now come back after this long, and not all at once. */
const NOT_NOW_MS = { least: 5000, spread: 5000 }

/** Whether the client reads streams of events, as those do that reconnect by themselves. */
const readsEvents = ({ headers }: FastifyRequest): boolean => /\btext\/event-stream\b/i.test(headers.accept ?? '')

/**
 * The error handler of streams. A browser's EventSource ends for good after any error, and reconnects after the end of a
 * stream: it is told of what passes by a stream that is over at once. Everybody else gets the problem document.
 */
export function refuseStream(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const passes = error instanceof PlumblineError && error.retryable
  if (!passes || !readsEvents(request)) return sendProblem(error, request, reply)
  request.log.info({ reason: error.message }, 'a stream is put off')
  const retryMs = Math.round(NOT_NOW_MS.least + Math.random() * NOT_NOW_MS.spread)
  return reply
    .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store, no-transform' })
    .type('text/event-stream')
    .send(notNowMessage(retryMs))
}
