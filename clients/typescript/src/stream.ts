import { createParser, type EventSourceMessage } from 'eventsource-parser'
import {
  ConnectionError,
  ProblemError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
  UnexpectedAnswerError,
} from './errors.js'
import { EVENT_TYPES } from './operations.js'
import { type RequestOptions, type Send, sleep } from './send.js'
import type { Event, PegSample, StreamReady } from './types.js'

type Named<Name extends string, Data> = {
  event: Name
  data: Data
  /** Position in the log: pass it as `after` to continue behind this message. Empty before the first one that has it. */
  lastEventId: string
}

type Announced<Any = Event> = Any extends Event ? Named<Any['event'], Any> : never

/** A message of the stream. `unknown`: of a type that this version of the client does not know. */
export type StreamMessage =
  | Announced
  | Named<'peg_sample', PegSample>
  | Named<'ready', StreamReady>
  | (Named<'unknown', unknown> & { name: string })

export type StreamOptions = RequestOptions & {
  /** A connection that is silent for so many milliseconds counts as lost. The service sends something every 15 s. Default 60,000. */
  idleMs?: number | undefined
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(['ready', 'peg_sample', ...EVENT_TYPES])
const EVENT_STREAM = 'text/event-stream'
const IDLE_MS = 60_000
/** Until the service says otherwise. */
const RECONNECT_MS = 3000
const RECONNECT_BOUNDS = { least: 100, most: 30_000 }
/** In characters. Messages of the service have less than a thousandth of it. */
const LONGEST_MESSAGE = 2 ** 20

function bodyOf(url: string, { body, headers }: Response): ReadableStream<Uint8Array> {
  if (body && headers.get('content-type')?.includes(EVENT_STREAM)) return body
  void body?.cancel()
  throw new UnexpectedAnswerError('the answer is not an event stream', { url })
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Whether a message with this id came before: ids are positions in a log, and only grow. */
const isRepeated = (id: string, last: string): boolean => id === last || (last !== '' && Number(id) <= Number(last))

/** Whether a new connection may succeed after this. */
const passes = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof TooManyRequestsError || error instanceof ServerError

/**
 * Messages of the stream at `url`, over as many connections as it takes, each event once. Until the first connection is
 * made it fails as other requests do; after that it ends only when you leave the loop, when `signal` is aborted, or when the
 * service refuses it for good.
 */
export async function* streamMessages(
  send: Send,
  url: string,
  { signal, idleMs = IDLE_MS, headers, ...options }: StreamOptions,
): AsyncGenerator<StreamMessage, never> {
  let lastEventId = ''
  let reconnectMs = RECONNECT_MS
  let wasConnected = false
  /** Connections in a row that brought nothing. */
  let failures = 0
  for (;;) {
    failures++
    let askedToWaitMs = 0
    const connection = new AbortController()
    const onAbort = (): void => connection.abort(signal?.reason)
    const onIdle = (): void => connection.abort(new TimeoutError(`nothing came for ${idleMs} ms`, { url }))
    signal?.throwIfAborted()
    signal?.addEventListener('abort', onAbort, { once: true })
    let idle: ReturnType<typeof setTimeout> | undefined
    try {
      const body = await send(url, (response) => bodyOf(url, response), {
        ...options,
        ...(wasConnected && { retries: 0 }),
        signal: connection.signal,
        accept: EVENT_STREAM,
        staysOpen: true,
        headers: { ...headers, ...(lastEventId !== '' && { 'last-event-id': lastEventId }) },
      })
      wasConnected = true
      const messages: EventSourceMessage[] = []
      const parser = createParser({
        maxBufferSize: LONGEST_MESSAGE,
        onEvent: (message) => messages.push(message),
        onRetry: (ms) => {
          reconnectMs = ms
        },
        onError: ({ type, message }) => {
          if (type === 'max-buffer-size-exceeded') throw new UnexpectedAnswerError(message, { url })
        },
      })
      const decoder = new TextDecoder()
      const reader = body.getReader()
      for (;;) {
        idle = setTimeout(onIdle, idleMs)
        const { done, value } = await reader.read()
        clearTimeout(idle)
        if (done) break
        // What is not a whole message when the connection ends is never passed on: it comes again.
        parser.feed(decoder.decode(value, { stream: true }))
        for (const { event: name = 'message', id, data: text } of messages.splice(0)) {
          failures = 0
          if (id !== undefined && isRepeated(id, lastEventId)) continue
          lastEventId = id ?? lastEventId
          const data = dataOf(text)
          const message = KNOWN_TYPES.has(name) ? { event: name, data } : { event: 'unknown', name, data }
          yield { ...message, lastEventId } as StreamMessage
        }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      // Without a class of ours, it is the error of a connection that was lost while it was read.
      const isLost = !(error instanceof ProblemError || error instanceof UnexpectedAnswerError)
      if (!wasConnected || !(isLost || passes(error))) throw error
      if (error instanceof ProblemError) askedToWaitMs = error.retryAfterMs ?? 0
    } finally {
      clearTimeout(idle)
      signal?.removeEventListener('abort', onAbort)
      connection.abort()
    }
    const { least, most } = RECONNECT_BOUNDS
    const waitMs = Math.min(Math.max(reconnectMs, least) * 2 ** Math.max(0, failures - 1), most)
    await sleep(Math.max(waitMs, askedToWaitMs), signal)
  }
}
