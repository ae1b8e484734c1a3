import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PublishedEvent } from '../../../clickhouse/events/types.js'
import { pegPrice, type StoredSample, sampledAt } from '../../../clickhouse/peg/price.js'
import { PlumblineError } from '../../../process/errors.js'
import { sendProblem } from '../../http/problem.js'
import type { PegSample, StreamReady } from '../shapes.js'

/** The name of the messages with a stable's newest sample. */
export const SAMPLE_TYPE = 'peg_sample'

/** A stable's newest sample; without a price its figures are null. */
export function sampleMessage(stable: string, sample: StoredSample): string {
  const { status, block_number, block_time } = sample
  const price = pegPrice(sample, { at: block_time, quotedNow: true })
  const { price_vs_refusd = null, spread_bps = null, buy_price = null, mid_price = null } = price ?? {}
  const sampled_at = sampledAt(block_time)
  const data = { stable, status, price_vs_refusd, spread_bps, buy_price, mid_price, block_number, sampled_at }
  return frame(SAMPLE_TYPE, data satisfies PegSample)
}

/** An event. Its id is its position in the log, from which a client that lost its connection continues. */
export const eventMessage = (event: PublishedEvent): string => frame(event.event, event, event.sequence)

/**
 * The first message: it gives the client an id to continue from before there is any event, and a delay for
 * reconnecting.
 */
export const readyMessage = (ready: StreamReady, retryMs: number): string =>
  `retry: ${retryMs}\n${frame('ready', ready, ready.sequence)}`

/** A complete stream for a client that cannot be served now: it reconnects after this time. */
const notNowMessage = (retryMs: number): string => `: not now\nretry: ${retryMs}\n\n`

/** A comment, which clients ignore, so that proxies in between do not consider the connection dead. */
export const HEARTBEAT = ': still here\n\n'

/** Formats a message by the HTML standard's server-sent events; JSON contains no line breaks. */
function frame(event: string, data: object, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** Clients that cannot be served now reconnect after this long, and not all at once. */
const NOT_NOW_MS = { least: 5000, spread: 5000 }

/** Whether the client accepts event streams, as those do that reconnect automatically. */
const readsEvents = ({ headers }: FastifyRequest): boolean => /\btext\/event-stream\b/i.test(headers.accept ?? '')

/**
 * The error handler of streams. A browser's EventSource gives up after any error, but reconnects after the end of a
 * stream: so a temporary failure is sent to it as a stream that ends at once. Everybody else gets the problem document.
 */
export function refuseStream(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const passes = error instanceof PlumblineError && error.retryable
  if (!passes || !readsEvents(request)) return sendProblem(error, request, reply)
  request.log.info({ reason: error.message }, 'a stream was refused for now; its client will reconnect')
  const retryMs = Math.round(NOT_NOW_MS.least + Math.random() * NOT_NOW_MS.spread)
  return reply
    .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store, no-transform' })
    .type('text/event-stream')
    .send(notNowMessage(retryMs))
}
