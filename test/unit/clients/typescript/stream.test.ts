import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  BadParameterError,
  createClient,
  type StreamMessage,
  TooManyRequestsError,
  UnexpectedAnswerError,
} from '../../../../clients/typescript/src/client.js'
import { answering, json, type Reply, startServer } from '../../../support/answering.js'

const HEAD = { 'content-type': 'text/event-stream' }
const EVENTS = 4
/** With a character of several bytes, since a stream may be cut within one. */
const event = (sequence: number) => ({ event: 'event.retracted', sequence, data: { name: 'Zürich ₮ 🪙' } })
const frame = (name: string, data: unknown, id?: number): string =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** What a server sends to a client that has all events up to `after`. */
const textAfter = (after: number): Buffer => {
  const rest = Array.from({ length: EVENTS - after }, (_, i) => event(after + 1 + i))
  const frames = rest.map((one) => frame(one.event, one, one.sequence) + frame('peg_sample', { stable: 's' }))
  return Buffer.from(`retry: 0\n${frame('ready', { sequence: after }, after)}: beat\n\n${frames.join('')}`)
}

/** Only the first of them. */
const firstAfter = (after: number): Buffer => {
  const text = textAfter(after)
  return text.subarray(0, text.indexOf('event: peg_sample'))
}

const afterOf = ({ headers }: IncomingMessage): number => Number(headers['last-event-id'] ?? 0)

/** Reads until the last event, and returns the positions of all, and the other messages. */
async function read(baseUrl: string): Promise<{ sequences: number[]; messages: StreamMessage[] }> {
  const sequences: number[] = []
  const messages: StreamMessage[] = []
  for await (const message of createClient({ baseUrl }).streamEvents()) {
    messages.push(message)
    if (message.event === 'event.retracted') sequences.push(message.data.sequence)
    if (sequences.at(-1) === EVENTS) break
  }
  return { sequences, messages }
}

const ALL = Array.from({ length: EVENTS }, (_, i) => i + 1)

describe('a stream', () => {
  test('cut at any byte continues with what is missing: each event comes once, in order', async () => {
    const whole = textAfter(0)
    // Reconnecting takes 100 ms, so the cuts are made side by side.
    const cuts = Array.from({ length: whole.length + 1 }, (_, i) => i)
    const reads = cuts.map(async (bytes) => {
      let connections = 0
      const baseUrl = await startServer((request, response) => {
        connections++
        response.writeHead(200, HEAD)
        if (connections > 1) return response.write(textAfter(afterOf(request)))
        response.write(whole.subarray(0, bytes))
        setTimeout(() => response.destroy(), 20)
        return
      })
      return (await read(baseUrl)).sequences
    })
    for (const sequences of await Promise.all(reads)) expect(sequences).toEqual(ALL)
    expect(cuts.length).toBeGreaterThan(600)
  })

  test('in chunks of one byte is the same', async () => {
    const baseUrl = await startServer(async (_, response) => {
      response.writeHead(200, HEAD)
      for (const byte of textAfter(0)) {
        response.write(Buffer.from([byte]))
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    const { messages } = await read(baseUrl)
    expect(messages[0]).toEqual({ event: 'ready', data: { sequence: 0 }, lastEventId: '0' })
    expect(messages[1]).toEqual({ event: 'event.retracted', data: event(1), lastEventId: '1' })
    expect(messages[2]).toEqual({ event: 'peg_sample', data: { stable: 's' }, lastEventId: '1' })
  })

  test('from a server that repeats events has each once', async () => {
    let connections = 0
    const baseUrl = await startServer((_, response) => {
      response.writeHead(200, HEAD)
      // Whatever the client says that it has.
      response.write(++connections === 1 ? firstAfter(0) : textAfter(0))
      if (connections === 1) setTimeout(() => response.destroy(), 20)
    })
    expect((await read(baseUrl)).sequences).toEqual(ALL)
  })

  test('passes on the parameters, and what it does not know', async () => {
    const { baseUrl, requests } = await answering((response) => {
      response.writeHead(200, HEAD).write(`${frame('of.the.future', { a: 1 }, 7)}event: bare\ndata: text\n\n`)
    })
    const stream = createClient({ baseUrl, key: 'pk_1' }).streamEvents({ types: 'peg_sample', after: '6' })
    expect([(await stream.next()).value, (await stream.next()).value]).toEqual([
      { event: 'unknown', name: 'of.the.future', data: { a: 1 }, lastEventId: '7' },
      { event: 'unknown', name: 'bare', data: 'text', lastEventId: '7' },
    ])
    await stream.return(undefined as never)
    expect(requests[0]?.url).toBe('/api/v1/stream?types=peg_sample&after=6')
    expect(requests[0]?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer pk_1' })
  })

  test('that is silent counts as lost', async () => {
    const { baseUrl, requests } = await answering((response, request) => {
      response.writeHead(200, HEAD).write(firstAfter(afterOf(request)))
    })
    const caller = new AbortController()
    const reading = (async () => {
      const options = { idleMs: 50, signal: caller.signal }
      for await (const _ of createClient({ baseUrl }).streamEvents({}, options)) if (requests.length > 1) break
    })()
    await expect(reading).resolves.toBeUndefined()
    expect(requests[1]?.headers['last-event-id']).toBe('1')
  })

  test('outlives failures that pass, and ends with one that does not', async () => {
    const open: Reply = (response, request) => response.writeHead(200, HEAD).end(firstAfter(afterOf(request)))
    const { baseUrl, requests } = await answering(
      open,
      json({}, 503, { 'retry-after': '0' }),
      json({}, 429, { 'retry-after': '0' }),
      (response) => response.destroy(),
      json({ type: 'urn:plumbline:problem:bad-parameter', detail: 'is beyond the newest event' }, 400),
    )
    const seen: string[] = []
    const reading = (async () => {
      for await (const { event } of createClient({ baseUrl }).streamEvents()) seen.push(event)
    })()
    await expect(reading).rejects.toThrow(BadParameterError)
    expect(seen).toEqual(['ready', 'event.retracted'])
    expect(requests).toHaveLength(5)
  })

  test('that was never open fails as other requests do', async () => {
    const refusals: [Reply, new (...given: never[]) => Error][] = [
      [json({}, 429, { 'retry-after': '0' }), TooManyRequestsError],
      [(response) => response.end('<html>'), UnexpectedAnswerError],
    ]
    for (const [reply, expected] of refusals) {
      const { baseUrl } = await answering(reply)
      const stream = createClient({ baseUrl }).streamEvents({}, { retries: 1 })
      await expect(stream.next()).rejects.toThrow(expected)
    }
  })

  test('of one endless message does not fill the memory', async () => {
    const { baseUrl } = await answering((response) => {
      response.writeHead(200, HEAD).write(`data: ${'x'.repeat(2 ** 20 + 1)}`)
    })
    await expect(createClient({ baseUrl }).streamEvents().next()).rejects.toThrow(UnexpectedAnswerError)
  })

  test('ends when it is aborted or left, and its connection with it', async () => {
    let closed = 0
    const baseUrl = await startServer((_, response) => {
      response.once('close', () => closed++)
      response.writeHead(200, HEAD).write(textAfter(0))
    })
    const caller = new AbortController()
    const stream = createClient({ baseUrl }).streamEvents({}, { signal: caller.signal })
    const reading = (async () => {
      for await (const { event } of stream) if (event === 'peg_sample') caller.abort('enough')
    })()
    await expect(reading).rejects.toBe('enough')
    for await (const _ of createClient({ baseUrl }).streamEvents()) break
    await expect.poll(() => closed).toBe(2)
  })
})
