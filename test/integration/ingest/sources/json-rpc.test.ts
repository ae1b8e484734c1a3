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

const OPTIONS = { batchSize: 3, batchLength: 1000, timeoutMs: 5000, mostAnswerBytes: 10_000 }
const call = (method: string, ...params: unknown[]) => ({ method, params })

test('calls travel in batches, and answers in any order reach their own calls', async ({ nodeWith }) => {
  const sizes: number[] = []
  const url = await nodeWith((calls, response) => {
    const all = calls as Call[]
    sizes.push(all.length)
    const answers = all.map(({ id, params: [n] }) =>
      n === 4 ? { id, error: { code: -32000, message: 'four', data: '0x' } } : { id, result: n },
    )
    response.end(JSON.stringify(answers.reverse()))
  })
  const node = jsonRpcAt(url, OPTIONS)
  const ended = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map((n) => node.batched(call('echo', n))))
  expect(sizes.sort()).toEqual([1, 3, 3])
  expect(ended.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.details))).toEqual([
    ...[0, 1, 2, 3, 'four', 5, 6],
  ])
})

test('a batch is no longer than the node allows, and a call that is longer goes alone', async ({ nodeWith }) => {
  const batches: number[][] = []
  const url = await nodeWith((calls, response) => {
    const all = calls as Call[]
    batches.push(all.map(({ params: [text] }) => (text as string).length))
    response.end(JSON.stringify(all.map(({ id, params: [text] }) => ({ id, result: (text as string).length }))))
  })
  const node = jsonRpcAt(url, OPTIONS)
  const lengths = [400, 400, 400, 10, 1500, 20]
  const answers = await Promise.all(lengths.map((length) => node.batched(call('echo', 'x'.repeat(length)))))
  expect(answers).toEqual(lengths)
  expect(batches.sort()).toEqual([[1500], [20], [400, 10], [400, 400]])
})

test('a batch that lacks an answer fails only the call that has none', async ({ nodeWith }) => {
  const url = await nodeWith((calls, response) =>
    response.end(JSON.stringify((calls as Call[]).slice(1).map(({ id }) => ({ id, result: id })))),
  )
  const node = jsonRpcAt(url, OPTIONS)
  const ended = await Promise.allSettled([node.batched(call('a')), node.batched(call('b'))])
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
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
