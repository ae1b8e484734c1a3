import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { buildApp } from '../../../../api/app.js'
import { ADMIN_KEY, test } from '../../../support/app.js'
import { answersIn, sendRaw } from '../../../support/raw-socket.js'

const STABLES = '/api/v1/stablecoins'

async function listen(app: Awaited<ReturnType<typeof buildApp>>): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

const statusesOf = (received: string): number[] => answersIn(received).map(({ status }) => status)

/** A request that would return 200 and the secret word of the admin's list, if it were accepted as a request. */
const SMUGGLED = `GET /api/admin/keys HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ADMIN_KEY}\r\n\r\n`
const POST = `POST ${STABLES} HTTP/1.1\r\nHost: a\r\n`
const GET = `GET /health/live HTTP/1.1\r\nHost: a\r\n`

const REFUSED = [
  ['a length and chunks', `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['chunks and a length', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['two lengths', `${POST}Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
  ['one length twice', `${POST}Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd${SMUGGLED}`],
  ['a list of lengths', `${POST}Content-Length: 4, 4\r\n\r\nabcd${SMUGGLED}`],
  ['a signed length', `${POST}Content-Length: +4\r\n\r\nabcd${SMUGGLED}`],
  ['a negative length', `${POST}Content-Length: -1\r\n\r\n${SMUGGLED}`],
  ['a hexadecimal length', `${POST}Content-Length: 0x4\r\n\r\nabcd${SMUGGLED}`],
  ['a length that overflows', `${POST}Content-Length: 18446744073709551620\r\n\r\nabcd${SMUGGLED}`],
  ['a space before the colon', `${POST}Content-Length : 4\r\n\r\nabcd${SMUGGLED}`],
  ['another coding after chunked', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['an unknown coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk size that is none', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n${SMUGGLED}`],
  ['a chunk size that overflows', `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${SMUGGLED}`],
  ['a line that goes on in the name', `${POST} Content-Length: 4\r\n\r\nabcd${SMUGGLED}`],
  ['a NUL in a value', `${GET}X-A: a\0b\r\n\r\n`],
  ['a lone CR in a value', `${GET}X-A: a\rTransfer-Encoding: chunked\r\n\r\n`],
  ['a name with a space', `${GET}X A: b\r\n\r\n`],
  ['no name', `${GET}: b\r\n\r\n`],
  ['no host', 'GET /health/live HTTP/1.1\r\n\r\n'],
  ['a space in the path', 'GET /health /live HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a NUL in the path', 'GET /health\0/live HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['another protocol', 'GET /health/live HTTP/9.9\r\nHost: a\r\n\r\n'],
  ['HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
] as const

test('an ambiguous request is refused, and bytes that follow it are not read as a request', async ({ app }) => {
  const port = await listen(app)
  for (const [what, text] of REFUSED) {
    const answer = await sendRaw(port, text)
    const answers = answersIn(answer)
    // If the head can be read, its method may be refused before the parser reaches the fault in the body.
    expect([[400], [405, 400]], what).toContainEqual(answers.map(({ status }) => status))
    expect(answers.at(-1)?.head, what).toContain('\r\nconnection: close\r\n')
    expect(answer, what).not.toContain('"keys"')
  }
  // The request that must not be smuggled would succeed by itself.
  expect(await sendRaw(port, SMUGGLED)).toContain('"keys"')
})

const HARMLESS = [
  ['a value that goes on in the next line', `${GET}X-A: b\r\n c\r\nConnection: close\r\n\r\n`, [200, 400]],
  [
    'a request within the body of a GET',
    `${GET}Connection: close\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    [200],
  ],
  ['chunks on a GET', `${GET}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`, [200]],
  ['two hosts', `${GET}Host: b\r\nConnection: close\r\n\r\n`, [200, 400]],
  [
    'a host of anywhere',
    'GET http://evil.example/health/live HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n',
    [200, 400, 404],
  ],
  ['an upgrade', `${GET}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`, [200]],
  [
    'an upgrade to HTTP/2',
    `${GET}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    [200],
  ],
  ['a header to override the method', `${GET}X-HTTP-Method-Override: DELETE\r\nConnection: close\r\n\r\n`, [200]],
  [
    'a header to override the path',
    `${GET}X-Original-URL: /api/admin/keys\r\nX-Rewrite-URL: /api/admin/keys\r\nConnection: close\r\n\r\n`,
    [200],
  ],
  ['cookies up to the limit', `${GET}Cookie: ${'a=b; '.repeat(3000)}\r\nConnection: close\r\n\r\n`, [200]],
  ['cookies beyond it', `${GET}Cookie: ${'a=b; '.repeat(4000)}\r\nConnection: close\r\n\r\n`, [431]],
  ['a thousand headers', `${GET}${'A: b\r\n'.repeat(1000)}Connection: close\r\n\r\n`, [200]],
  ['more headers than fit', `${GET}${'Name: b\r\n'.repeat(5000)}Connection: close\r\n\r\n`, [431]],
  [
    'a body that is announced too large',
    `${POST}Content-Length: 99999999999\r\nConnection: close\r\n\r\nabc`,
    [405, 413],
  ],
  [
    'an expectation',
    `${POST}Expect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`,
    [100, 405, 417],
  ],
] as const

test('unusual input is refused or harmless', async ({ app }) => {
  const port = await listen(app)
  for (const [what, text, allowed] of HARMLESS) {
    const answer = await sendRaw(port, text)
    const statuses = statusesOf(answer)
    expect(
      statuses.filter((status) => status !== 100),
      what,
    ).toHaveLength(1)
    for (const status of statuses) expect(allowed, what).toContain(status)
    expect(answer, what).not.toContain('"keys"')
  }
})

test('clients that send slowly on purpose are disconnected, and do not delay others', async ({ app }) => {
  const port = await listen(app)
  const slow = Array.from({ length: 100 }, () => ({ answer: '' }))
  const sockets = await Promise.all(
    slow.map(async (one): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1')
      socket.on('data', (chunk) => {
        one.answer += chunk
      })
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(`GET ${STABLES} HTTP/1.1\r\nHost: a\r\nX-`)
      return socket
    }),
  )
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a')
  }, 200)
  onTestFinished(() => {
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
  })
  const closed = Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')))
  let answered = 0
  let areAllGone = false
  void closed.then(() => {
    areAllGone = true
  })
  while (!areAllGone) {
    const response = await fetch(`http://127.0.0.1:${port}${STABLES}`)
    expect(response.status).toBe(200)
    await response.json()
    answered += 1
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(answered).toBeGreaterThan(0)
  for (const { answer } of slow) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
})

test('a body that never comes ends the request', async ({ app }) => {
  const head = `POST /api/admin/keys HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ADMIN_KEY}\r\nContent-Type: application/json\r\n`
  const socket = connect(await listen(app), '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => {})
  socket.write(`${head}Content-Length: 100\r\n\r\n{"label":"`)
  await once(socket, 'close')
  expect(statusesOf(answer)).toEqual([408])
})
