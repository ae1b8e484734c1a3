import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PublishedEvent } from '../../../clickhouse/events/types.js'
import { pegPrice, type StoredSample, sampledAt } from '../../../clickhouse/peg/price.js'
import { PlumblineError } from '../../../process/errors.js'
import { sendProblem } from '../../http/problem.js'

/** The name of the messages that have a stable's newest sample. */
export const SAMPLE_TYPE = 'peg_sample'

/** A stable's newest sample; without a price its figures are null. */
export function sampleMessage(stable: string, sample: StoredSample): string {
  const { status, block_number, block_time } = sample
  const { price_vs_refusd = null, spread_bps = null, buy_price = null } = pegPrice(sample) ?? {}
  const sampled_at = sampledAt(block_time)
  return frame(SAMPLE_TYPE, { stable, status, price_vs_refusd, spread_bps, buy_price, block_number, sampled_at })
}

/** An event, with its place in the log as the id from which a client that lost its connection goes on. */
export const eventMessage = (event: PublishedEvent): string => frame(event.event, event, event.sequence)

/** The first message: it gives the client an id to go on from before there is any event, and a time to wait until then. */
export const readyMessage = (sequence: number, retryMs: number): string =>
  `retry: ${retryMs}\n${frame('ready', { sequence }, sequence)}`

/** A whole stream for a client that cannot be served now: it comes back after this time. */
const notNowMessage = (retryMs: number): string => `: not now\nretry: ${retryMs}\n\n`

/** What clients ignore, and what keeps what lies between from thinking that the connection is dead. */
export const HEARTBEAT = ': still here\n\n'

/** As the HTML standard has server-sent events; JSON has no line breaks of its own. */
function frame(event: string, data: object, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

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
  request.log.info({ reason: error.message }, 'a stream was refused for now; its client will reconnect')
  const retryMs = Math.round(NOT_NOW_MS.least + Math.random() * NOT_NOW_MS.spread)
  return reply
    .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store, no-transform' })
    .type('text/event-stream')
    .send(notNowMessage(retryMs))
}
