import type { ServerResponse } from 'node:http'
import type { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import pLimit from 'p-limit'
import { z } from 'zod'
import { eventsAfter, newestSequence } from '../../../clickhouse/events/log.js'
import { EVENT_TYPES } from '../../../clickhouse/events/types.js'
import { BreakFilterQuery } from '../../answers/break-filter.js'
import { querySignal } from '../../answers/query-signal.js'
import { problemResponses } from '../../http/problem.js'
import { requireReached, requireStables, Sequence, StablesQuery, TypesQuery } from '../events.js'
import { STREAM_CONTENT } from '../shapes.js'
import { createFeedHub } from './feed.js'
import { follow } from './follow.js'
import { refuseStream, SAMPLE_TYPE } from './messages.js'
import { createStreamPlaces, type StreamLimits } from './places.js'

/** Options of the streams of a process. */
export type StreamOptions = StreamLimits & {
  /** Time between two polls, in milliseconds; also the shortest time between two samples of a stable. */
  intervalMs: number
  heartbeatMs: number
  /** Time within which a client must read waiting data, in milliseconds. */
  stallMs: number
}

/** Defaults for one process. */
export const DEFAULT_STREAMS: StreamOptions = {
  total: 1000,
  perAddress: 10,
  perKey: 100,
  intervalMs: 1000,
  heartbeatMs: 15_000,
  stallMs: 30_000,
}

/** At shutdown, streams have this long to send what is left. */
const END_MS = 1000

/** Number of clients that catch up concurrently, as all reconnect at once after a restart. */
const CATCHING_UP = 4

const LAST_EVENT_ID = 'last-event-id'

const DESCRIPTION =
  `Server-sent events. Each event of the list of events is sent as a message named by its type, with its \`sequence\` as
id. A client that reconnects with \`Last-Event-ID\`, as browsers do automatically, gets every event that it missed, once.
Messages named \`${SAMPLE_TYPE}\` contain a stable's newest sample: first for all stables, then for those whose price or
status has changed, at most once a second each. The first message, \`ready\`, contains the position in the log where the
stream begins, and whether the position that was asked for is unknown. While the service cannot open a stream, a client that accepts \`text/event-stream\` gets an empty stream
that says when to reconnect, because browsers give up after an error; other clients get 503.`.replaceAll('\n', ' ')

const schema = {
  operationId: 'streamEvents',
  tags: ['events'],
  summary: 'Peg samples, peg breaks, flow anomalies and the health of the service, as they come',
  description: DESCRIPTION,
  headers: z.looseObject({
    [LAST_EVENT_ID]: z
      .string()
      .optional()
      .meta({ description: '`id` of the last message that you have; an unknown one begins at the newest event' }),
  }),
  querystring: z.strictObject({
    types: TypesQuery([SAMPLE_TYPE, ...EVENT_TYPES]),
    stable: StablesQuery,
    ...BreakFilterQuery,
    after: Sequence.optional(),
  }),
  response: {
    200: {
      description: 'An endless stream of messages',
      content: {
        'text/event-stream': {
          schema: z.string().meta({
            description: 'Messages in the format of server-sent events, with JSON as data',
            contentMediaType: 'text/event-stream',
            contentSchema: STREAM_CONTENT,
          }),
        },
      },
    },
    ...problemResponses(400, 404, 503),
  },
}

function sendStream(reply: FastifyReply, stream: PassThrough): FastifyReply {
  return reply
    .headers({
      'cache-control': 'no-store, no-transform',
      // The connection ends with the stream, so that it does not hold up the end of the server.
      connection: 'close',
      // Without it, nginx buffers the answer.
      'x-accel-buffering': 'no',
    })
    .type('text/event-stream')
    .send(stream)
}

/** Sends news as they occur, over connections that stay open until the server stops. */
export const streamRoute =
  ({ intervalMs, heartbeatMs, stallMs, ...limits }: StreamOptions): FastifyPluginAsyncZod =>
  async (app) => {
    const hub = createFeedHub({ clickhouse: app.clickhouse, intervalMs, log: app.log })
    const places = createStreamPlaces(limits)
    const turn = pLimit(CATCHING_UP)
    const open = new Map<PassThrough, ServerResponse>()
    let isClosing = false

    app.addHook('preClose', async () => {
      isClosing = true
      for (const [stream, response] of open) {
        stream.end()
        setTimeout(() => response.destroy(), END_MS).unref()
      }
    })

    app.get('/stream', { schema, exposeHeadRoute: false, errorHandler: refuseStream }, async (request, reply) => {
      const { types, stable: stables, severity, min_bps, min_seconds, min_size } = request.query
      await requireStables(app, stables)
      const lastEventId = request.headers[LAST_EVENT_ID]
      const until = await newestSequence(app.clickhouse, { signal: querySignal(request) })
      const kept = lastEventId === undefined ? undefined : Sequence.safeParse(lastEventId).data
      // Of a log that was made again, say. A browser gives up after an error, and cannot forget its position.
      const isPositionUnknown = lastEventId !== undefined && (kept === undefined || kept > until)
      const after = isPositionUnknown ? until : (kept ?? request.query.after)
      requireReached('after', after ?? 0, until)

      const release = places.take(request.caller, request.ip)
      const { feed, leave } = await hub.join().catch((error) => {
        release()
        throw error
      })
      const stream = follow({
        feed,
        readEvents: (range, options) => turn(() => eventsAfter(app.clickhouse, range, options)),
        filter: { types, stables, severity, min_bps, min_seconds, min_size },
        after: after ?? until,
        isPositionUnknown,
        heartbeatMs,
        stallMs,
        log: request.log,
      })
      open.set(stream, reply.raw)
      app.metrics.streams.inc()
      stream.once('close', () => {
        open.delete(stream)
        app.metrics.streams.dec()
        leave()
        release()
      })
      if (isClosing) stream.end()
      // The client disconnected while the feed was starting.
      if (request.signal.aborted) stream.destroy()
      return sendStream(reply, stream)
    })
  }
