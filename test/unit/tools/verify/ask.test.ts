import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect, test } from 'vitest'
import { ask } from '../../../../tools/verify/answers/ask.js'

/** Asks a server that answers the first request in one way and all others with a body. */
async function asked(first: RequestListener) {
  let requests = 0
  const server = createServer((request, response) => {
    if (requests++ === 0) first(request, response)
    else response.end('{"figure": 7}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const api = { url, key: null, signal: new AbortController().signal, clickhouse: {} as ClickHouseClient }
  const published = await ask(api, { path: 'x', query: {}, expected: null })
  server.close()
  server.closeAllConnections()
  return { ...published, requests }
}

test.for<[string, RequestListener]>([
  ['breaks the connection', (request) => request.socket.destroy()],
  [
    'breaks it in the middle of the body',
    (request, response) => {
      response.writeHead(200, { 'content-length': '13' })
      response.write('{"fig', () => request.socket.destroy())
    },
  ],
  ['is over its limit', (_, response) => response.writeHead(429, { 'retry-after': '0' }).end()],
])('a question is asked again when the API %s', async ([, first]) => {
  expect(await asked(first)).toEqual({ status: 200, body: { figure: 7 }, requests: 2 })
})

test('an error that a repetition would not change is returned at once', async () => {
  expect(await asked((_, response) => response.writeHead(404).end('{}'))).toEqual({
    status: 404,
    body: null,
    requests: 1,
  })
})
