import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { HttpRequestError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem'
import { test as base, expect } from 'vitest'
import { jsonRpcAt } from '../../../../ingest/sources/json-rpc.js'

type Call = { id: number; method: string; params: unknown[] }
type Answer = (calls: Call | Call[], response: ServerResponse, request: IncomingMessage) => void

const test = base.extend<{ nodeWith: (answer: Answer) => Promise<string> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires the pattern.
  nodeWith: async ({}, use) => {
    const closes: Array<() => void> = []
    await use(async (answer) => {
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        answer(JSON.parse(Buffer.concat(chunks).toString()), response, request)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closes.push(() => {
        server.closeAllConnections()
        server.close()
      })
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    for (const close of closes) close()
  },
})

const OPTIONS = { batchSize: 3, batchLength: 1000, batchesAtOnce: 8, timeoutMs: 5000, mostAnswerBytes: 10_000 }
const call = (method: string, ...params: unknown[]) => ({ method, params })

test('calls travel in batches, and answers in any order reach their own calls', async ({ nodeWith }) => {
  const sizes: unknown[] = []
  const url = await nodeWith((calls, response) => {
    sizes.push(Array.isArray(calls) ? calls.length : 'alone')
    const answers = [calls]
      .flat()
      .map(({ id, params: [n] }) =>
        n === 4 ? { id, error: { code: -32000, message: 'four', data: '0x' } } : { id, result: n },
      )
    response.end(JSON.stringify(Array.isArray(calls) ? answers.reverse() : answers[0]))
  })
  const node = jsonRpcAt(url, OPTIONS)
  const ended = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map((n) => node.batched(call('echo', n))))
  // The refused one is asked again alone, in case the node meant the batch.
  expect(sizes.sort()).toEqual([3, 3, 'alone', 'alone'])
  expect(ended.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.details))).toEqual([
    ...[0, 1, 2, 3, 'four', 5, 6],
  ])
})

test('a batch is no longer than the node allows, and a call that is longer goes alone', async ({ nodeWith }) => {
  const batches: number[][] = []
  const url = await nodeWith((calls, response) => {
    const all = [calls].flat()
    batches.push(all.map(({ params: [text] }) => (text as string).length))
    const answers = all.map(({ id, params: [text] }) => ({ id, result: (text as string).length }))
    response.end(JSON.stringify(Array.isArray(calls) ? answers : answers[0]))
  })
  const node = jsonRpcAt(url, OPTIONS)
  const lengths = [400, 400, 400, 10, 1500, 20]
  const answers = await Promise.all(lengths.map((length) => node.batched(call('echo', 'x'.repeat(length)))))
  expect(answers).toEqual(lengths)
  expect(batches.sort()).toEqual([[1500], [20], [400, 10], [400, 400]])
})

const answerTo = ({ id, params: [n] }: Call) => ({ jsonrpc: '2.0', id, result: n })
const send = (response: ServerResponse, body: unknown, status = 200) =>
  void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))

test('a batch that lacks an answer fails only the call that gets none alone either', async ({ nodeWith }) => {
  const url = await nodeWith((calls, response) => {
    const answers = [calls].flat().filter(({ method }) => method !== 'a')
    send(response, Array.isArray(calls) ? answers.map(answerTo) : 'null')
  })
  const node = jsonRpcAt(url, OPTIONS)
  const ended = await Promise.allSettled([node.batched(call('a')), node.batched(call('b', 2))])
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test.for<[string, Answer]>([
  [
    'with ids as texts',
    (calls, response) =>
      send(
        response,
        [calls]
          .flat()
          .map(answerTo)
          .map((a) => ({ ...a, id: `${a.id}` })),
      ),
  ],
  ['with the status of a failure', (calls, response) => send(response, [calls].flat().map(answerTo), 500)],
  [
    'with answers to other calls too',
    (calls, response) => send(response, [{ id: 99, result: 1 }, ...[calls].flat().map(answerTo), null]),
  ],
  ['one after the other', (calls, response) => send(response, [calls].flat().map(answerTo).reverse())],
])('a node that answers %s is understood', async ([, answer], { nodeWith }) => {
  const node = jsonRpcAt(await nodeWith(answer), OPTIONS)
  expect(await Promise.all([1, 2, 3].map((n) => node.batched(call('echo', n))))).toEqual([1, 2, 3])
})

test.for<[string, (most: number) => Answer]>([
  [
    'refuses more with an error of its own',
    () => (_, response) => send(response, { id: null, error: { code: 31, message: 'too many' } }, 500),
  ],
  [
    'refuses more in a list',
    () => (_, response) => send(response, [{ id: null, error: { code: -32014, message: 'no' } }]),
  ],
  ['refuses more in words', () => (_, response) => send(response, 'batch requests are disabled', 400)],
  ['gives an empty answer to more', () => (_, response) => send(response, '')],
  [
    'answers only the first ones',
    (most) => (calls, response) => send(response, (calls as Call[]).slice(0, most).map(answerTo)),
  ],
  [
    'refuses each call of more',
    () => (calls, response) =>
      send(
        response,
        [calls].flat().map(({ id }) => ({ id, error: { code: -32600, message: 'too many calls in a batch' } })),
      ),
  ],
  [
    'answers the first ones and refuses the others',
    (most) => (calls, response) =>
      send(
        response,
        [calls]
          .flat()
          .map((one, i) => (i < most ? answerTo(one) : { id: one.id, error: { code: -32003, message: 'large' } })),
      ),
  ],
  ['hangs up at more', () => (_, response) => void response.destroy()],
])('the batches of a node that %s are soon as small as it takes them', async ([, refuse], { nodeWith }) => {
  for (const most of [1, 3, 10]) {
    const sizes: number[] = []
    const url = await nodeWith((calls, response, request) => {
      if (Array.isArray(calls)) sizes.push(calls.length)
      if (!Array.isArray(calls)) return send(response, answerTo(calls))
      if (calls.length > most || most === 1) return refuse(most)(calls, response, request)
      send(response, calls.map(answerTo))
    })
    const node = jsonRpcAt(url, { ...OPTIONS, batchSize: 50, batchLength: 100_000 })
    const all = Array.from({ length: 50 }, (_, n) => n)
    for (let round = 0; round < 3; round++)
      expect(await Promise.all(all.map((n) => node.batched(call('echo', n))))).toEqual(all)
    const refused = sizes.filter((size) => size > most)
    expect([most, refused.length <= 12], `${refused}`).toEqual([most, true])
  }
})

test('a node that is down gets few requests for a batch', async ({ nodeWith }) => {
  let requests = 0
  const url = await nodeWith((_, response) => {
    requests++
    response.destroy()
  })
  const node = jsonRpcAt(url, { ...OPTIONS, batchSize: 50, batchLength: 100_000 })
  const ended = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => node.batched(call('echo', n))))
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(requests).toBe(6)
})

test('compressed answers, credentials in the URL and redirects work', async ({ nodeWith }) => {
  const url = await nodeWith((calls, response, { headers }) => {
    const body = JSON.stringify({ id: 0, result: [headers.authorization, (calls as Call).params, 'x'.repeat(5000)] })
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body))
  })
  const moved = await nodeWith((_, response) => void response.writeHead(308, { location: url }).end())
  const basic = `Basic ${Buffer.from('me:s@cret').toString('base64')}`
  const named = url.replace('http://', 'http://me:s%40cret@')
  expect(await jsonRpcAt(named, OPTIONS).single(call('a', 7))).toEqual([basic, [7], 'x'.repeat(5000)])
  expect(await jsonRpcAt(moved, OPTIONS).single(call('a', 7))).toEqual([null, [7], 'x'.repeat(5000)])
})

test.for<[string, Answer, unknown]>([
  ['does not answer', () => {}, TimeoutError],
  ['stops in the middle of its answer', (_, response) => void response.write('{"id":0,'), TimeoutError],
  ['closes the connection', (_, response) => void response.destroy(), HttpRequestError],
  ['answers garbage', (_, response) => void response.end('<html>'), HttpRequestError],
  ['answers too much', (_, response) => void response.end('"'.padEnd(20_000)), ResponseBodyTooLargeError],
  [
    'answers too much, compressed',
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('"'.padEnd(200_000))),
    HttpRequestError,
  ],
  [
    'is overloaded',
    (_, response) => void response.writeHead(503, { 'retry-after': '7' }).end('busy'),
    HttpRequestError,
  ],
  [
    'refuses',
    (_, response) => void response.writeHead(400).end('{"id":0,"error":{"code":-32005,"message":"limit"}}'),
    RpcRequestError,
  ],
])('a node that %s is an error of its kind', async ([, answer, kind], { nodeWith }) => {
  const node = jsonRpcAt(await nodeWith(answer), { ...OPTIONS, timeoutMs: 300 })
  for (const send of [node.single, node.batched]) await expect(send(call('a'))).rejects.toBeInstanceOf(kind)
})

test('an overloaded node says when to ask again, and its answer is the reason', async ({ nodeWith }) => {
  const url = await nodeWith((_, response) => void response.writeHead(503, { 'retry-after': '7' }).end('busy'))
  const error = await jsonRpcAt(url, OPTIONS)
    .single(call('a'))
    .catch((reason: unknown) => reason as HttpRequestError)
  const { status, headers, details } = error as HttpRequestError
  expect([status, headers?.get('retry-after'), details]).toEqual([503, '7', 'busy'])
})
