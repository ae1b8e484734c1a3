import { Buffer } from 'node:buffer'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { expect, vi } from 'vitest'
import { createSender, isSuccess } from '../../../../jobs/webhooks/send/sender.js'
import { type IpNetwork, parseIpNetwork } from '../../../../process/ip-networks.js'
import { SELF_SIGNED } from '../../../support/webhooks/certificate.js'
import { httpReceiver, tcpReceiver, tlsReceiver } from '../../../support/webhooks/receivers.js'
import { PRIVATE, test } from '../../../support/webhooks/sending.js'

const ok: RequestListener = (_, response) => response.end('received')
const named: Record<string, string[]> = { 'receiver.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] }
const answers = (name: string, type: 'A' | 'AAAA') => (type === 'A' ? (named[name] ?? []) : [])

/** The time limit of tests in which it must expire. */
const SHORT_MS = 2000

/** Answers the first bytes of every connection with the given text, and leaves it open. */
const saying = (text: string) => (socket: Socket) => socket.once('data', () => socket.write(text))

const untilNoneIsOpen = (open: () => number) =>
  vi.waitFor(() => expect(open()).toBe(0), { timeout: 60_000, interval: 10 })

test('the receiver gets exactly the given bytes, and the name of the sender', async ({ running, sending }) => {
  let head = ''
  const bytes: Buffer[] = []
  const { port } = await running(
    httpReceiver((request, response) => {
      head = `${request.method} ${request.url}\n${request.rawHeaders.join('\n')}`
      request.on('data', (chunk) => bytes.push(chunk))
      request.on('end', () => response.writeHead(202, { 'Retry-After': '120' }).end('taken\u001b[0m'))
    }),
  )
  const { send } = await sending({ answers })
  const body = '{"event":"peg_break.started","data":{"label":"Bücher €"},"delivery_id":7}'
  const exchange = await send(`http://receiver.test:${port}`, body)
  expect(exchange).toMatchObject({ status: 202, error: null, response: 'taken [0m', waitMs: 120_000 })
  expect(isSuccess(exchange)).toBe(true)
  expect(Buffer.concat(bytes).equals(Buffer.from(body))).toBe(true)
  expect(head.split('\n')[0]).toBe(`POST ${PRIVATE.path}`)
  const headers = head.split('\n').slice(1)
  const header = (name: string) => headers[headers.findIndex((one) => one.toLowerCase() === name) + 1]
  expect(header('host')).toBe(`receiver.test:${port}`)
  expect(header('content-type')).toBe('application/json')
  expect(header('content-length')).toBe(`${Buffer.byteLength(body)}`)
  expect(header('user-agent')).toBe('Service-Webhook/1 (+http://localhost:3000)')
  expect(header('x-service-signature')).toBe(PRIVATE.signature)
})

test('any 2xx is success, and nothing else', async ({ running, sending }) => {
  const statuses = [200, 201, 202, 204, 206, 226, 299, 300, 304, 400, 401, 404, 410, 418, 429, 500, 502, 503, 599]
  let answered = 0
  const { port } = await running(httpReceiver((_, response) => response.writeHead(statuses[answered++] ?? 0).end()))
  const { send } = await sending()
  const successful: number[] = []
  for (const status of statuses) {
    const exchange = await send(`http://127.0.0.1:${port}`)
    expect(exchange.status).toBe(status)
    if (isSuccess(exchange)) successful.push(status)
  }
  expect(successful).toEqual([200, 201, 202, 204, 206, 226, 299])
})

test('connections are reused, and there are never more than concurrent deliveries', async ({ running, sending }) => {
  const { port, connections } = await running(httpReceiver(ok))
  const { send } = await sending()
  for (let round = 0; round < 20; round++) await send(`http://127.0.0.1:${port}`)
  // Not exactly one: a connection is free again only in the next turn of the event loop, and closed when idle for
  // seconds.
  expect(connections()).toBeLessThan(10)
  const before = connections()
  const exchanges = await Promise.all(Array.from({ length: 10 }, () => send(`http://127.0.0.1:${port}`)))
  expect(exchanges.every(isSuccess)).toBe(true)
  expect(connections() - before).toBeLessThanOrEqual(10)
})

test('a receiver that does not answer delays no other receiver', async ({ running, sending }) => {
  const silent = await running(tcpReceiver((socket) => socket.resume()))
  const { port } = await running(httpReceiver(ok))
  const { send } = await sending()
  const waiting = Promise.all(Array.from({ length: 200 }, () => send(`http://127.0.0.1:${silent.port}`)))
  await vi.waitFor(() => expect(silent.open()).toBe(200), { timeout: 60_000, interval: 10 })
  const exchanges = await Promise.all(Array.from({ length: 50 }, () => send(`http://127.0.0.1:${port}`)))
  expect(exchanges.every(isSuccess)).toBe(true)
  silent.hangUp()
  expect(new Set((await waiting).map(({ error }) => error))).toEqual(new Set(['connection lost']))
})

const SLOW = {
  'accepts and stays silent': (socket: Socket) => socket.resume(),
  'never ends its headers': (socket: Socket) => {
    const drip = setInterval(() => socket.write('X-More: yes\r\n'), 50)
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n'))
    socket.on('close', () => clearInterval(drip))
  },
  'never ends its interim responses': (socket: Socket) => {
    const drip = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 50)
    socket.on('close', () => clearInterval(drip))
  },
}

/** Answers with this status, and never ends the body. */
const UNENDING = {
  'drips its body': (status: number) => (socket: Socket) => {
    const drip = setInterval(() => socket.write('1\r\n.\r\n'), 50)
    socket.once('data', () => socket.write(`HTTP/1.1 ${status} OK\r\nTransfer-Encoding: chunked\r\n\r\n`))
    socket.on('close', () => clearInterval(drip))
  },
  'stops in the middle of its body': (status: number) =>
    saying(`HTTP/1.1 ${status} OK\r\nContent-Length: 100\r\n\r\nhalf`),
}

test.for(Object.entries(SLOW))(
  'the time limit covers the whole exchange: one that %s',
  async ([, accept], { running, sending }) => {
    const { port, open } = await running(tcpReceiver(accept))
    const { send } = await sending({ timeoutMs: SHORT_MS })
    const exchange = await send(`http://127.0.0.1:${port}`)
    expect(exchange.error).toBe('timeout')
    expect(isSuccess(exchange)).toBe(false)
    await untilNoneIsOpen(open)
  },
)

test.for(Object.entries(UNENDING))(
  'a 2xx is received, and anything else is not, from one that %s',
  async ([, accept], { running, sending }) => {
    const { send } = await sending({ timeoutMs: SHORT_MS })
    const statuses = [200, 204, 299, 404, 500]
    const exchanges = await Promise.all(
      statuses.map(async (status) => {
        const { port, open } = await running(tcpReceiver(accept(status)))
        const exchange = await send(`http://127.0.0.1:${port}`)
        await untilNoneIsOpen(open)
        return exchange
      }),
    )
    expect(exchanges.map(({ status, error }) => [status, error])).toEqual(statuses.map((status) => [status, null]))
    expect(exchanges.filter(isSuccess).map(({ status }) => status)).toEqual([200, 204, 299])
  },
)

test('the time limit also covers the handshake and the name lookup', async ({ running, sending }) => {
  const { port, open } = await running(tcpReceiver((socket) => socket.resume()))
  const { send, asked } = await sending({ timeoutMs: SHORT_MS, answers: () => 'silence' })
  expect(await send(`https://127.0.0.1:${port}`)).toMatchObject({ status: null, error: 'timeout' })
  await untilNoneIsOpen(open)
  expect(await send(`http://silent.test:${port}`)).toMatchObject({ status: null, error: 'timeout' })
  expect(asked).toContain('A silent.test')
})

test('a request that timed out before it was connected is not sent later', async ({ running }) => {
  let requests = 0
  const { port } = await running(
    httpReceiver((_, response) => {
      requests += 1
      response.end()
    }),
  )
  let answerNames = (): void => {}
  const answered = new Promise<string[]>((resolve) => {
    answerNames = () => resolve(['127.0.0.1'])
  })
  const rules = { networks: [parseIpNetwork('127.0.0.1') as IpNetwork], ports: 'any' as const }
  const sender = createSender({ rules, resolve: () => answered, timeoutMs: SHORT_MS, userAgent: 'test' })
  const exchange = await sender.send({ url: `http://slow-name.test:${port}/`, body: '{}', headers: {} })
  expect(exchange).toMatchObject({ status: null, error: 'timeout' })
  answerNames()
  await sender.close()
  expect(requests).toBe(0)
})

test('only the start of an endless body is read, and its status counts', async ({ running, sending }) => {
  let written = 0
  const endless: RequestListener = (_, response) => {
    const chunk = 'endless '.repeat(2048)
    const go = (): void => {
      while (!response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) break
      }
    }
    response.on('drain', go)
    go()
  }
  const { port, open } = await running(httpReceiver(endless))
  const { send } = await sending()
  const exchange = await send(`http://127.0.0.1:${port}`)
  expect(isSuccess(exchange)).toBe(true)
  expect(exchange.response).toBe('endless '.repeat(128).trim())
  // The rest was not requested: this much fits in the buffers of two sockets.
  await untilNoneIsOpen(open)
  expect(written).toBeLessThan(32 * 2 ** 20)
})

test('a received status counts, even if the body then breaks off', async ({ running, sending }) => {
  const { port } = await running(
    tcpReceiver((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')),
    ),
  )
  const { send } = await sending()
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ status: 200, error: null, response: 'half' })
})

const BROKEN: Record<string, [accept: (socket: Socket) => void, error: string]> = {
  'other bytes': [saying('220 mail.test ESMTP\r\n'), 'invalid response'],
  'a wrong status line': [saying('HTTP/1.1 abc OK\r\n\r\n'), 'invalid response'],
  'a contradiction of lengths': [
    saying('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    'invalid response',
  ],
  'headers without an end': [saying(`HTTP/1.1 200 OK\r\n${'X-More: yes\r\n'.repeat(50_000)}`), 'invalid response'],
  'the end of the connection': [(socket) => socket.once('data', () => socket.end()), 'connection lost'],
  'a reset': [(socket) => socket.once('data', () => socket.resetAndDestroy()), 'connection lost'],
}

test.for(Object.entries(BROKEN))(
  'a broken response is reported with a fixed text: %s',
  async ([, [accept, error]], { running, sending }) => {
    const { port } = await running(tcpReceiver(accept))
    const { send } = await sending()
    expect(await send(`http://127.0.0.1:${port}`)).toEqual({
      status: null,
      error,
      response: '',
      waitMs: null,
      startedAt: expect.any(Date),
      durationMs: expect.any(Number),
    })
  },
)

test('a refused connection and an unknown name are reported as such', async ({ running, sending }) => {
  const gone = await running(httpReceiver(ok))
  const { send } = await sending({ answers: (name) => (name === 'broken.test' ? 'failure' : []) })
  await gone.close()
  expect(await send(`http://127.0.0.1:${gone.port}`)).toMatchObject({ status: null, error: 'connection refused' })
  expect(await send('http://nowhere.test')).toMatchObject({ status: null, error: 'name not found' })
  expect(await send('http://broken.test')).toMatchObject({ status: null, error: 'name servers do not answer' })
})

test('if one address of a name refuses connections, the next one is tried', async ({ running, sending }) => {
  const { port } = await running(httpReceiver(ok, { address: '127.0.0.2' }))
  const addresses: Record<string, string[]> = {
    'second.test': ['127.0.0.3', '127.0.0.2'],
    'neither.test': ['127.0.0.3', '127.0.0.4'],
  }
  const answers = (name: string, type: 'A' | 'AAAA') => (type === 'A' ? (addresses[name] ?? []) : [])
  const { send } = await sending({ allowed: ['127.0.0.0/8'], answers })
  expect(await send(`http://second.test:${port}`)).toMatchObject({ status: 200, error: null })
  expect(await send(`http://neither.test:${port}`)).toMatchObject({ status: null, error: 'connection refused' })
})

test('exchanges in progress end before the connections are closed', async ({ running, sending }) => {
  const answers: (() => void)[] = []
  const { port, open } = await running(
    httpReceiver((_, response) => {
      answers.push(() => response.end('received'))
    }),
  )
  const { send, close } = await sending()
  const exchange = send(`http://127.0.0.1:${port}`)
  await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 60_000, interval: 10 })
  const closed = close()
  answers[0]?.()
  expect(await exchange).toMatchObject({ status: 200, error: null })
  await closed
  await untilNoneIsOpen(open)
})

test('a certificate must be trusted and match the name, although the sender looks up the address itself', async ({
  running,
  sending,
}) => {
  let requests = 0
  const { port } = await running(
    tlsReceiver(SELF_SIGNED, (_, response) => {
      requests += 1
      response.end('received')
    }),
  )
  const untrusting = await sending({ answers })
  expect(await untrusting.send(`https://receiver.test:${port}`)).toMatchObject({
    status: null,
    error: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  const trusting = await sending({ answers, ca: SELF_SIGNED.cert })
  expect(await trusting.send(`https://other.test:${port}`)).toMatchObject({
    status: null,
    error: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  expect(requests).toBe(0)
  expect(await trusting.send(`https://receiver.test:${port}`)).toMatchObject({ status: 200, error: null })
  expect(await trusting.send(`https://127.0.0.1:${port}`)).toMatchObject({ status: 200, error: null })
})

test('a certificate is checked for the name without the dot that makes it absolute', async ({ running, sending }) => {
  let host: string | undefined
  let servername: unknown
  const { port } = await running(
    tlsReceiver(SELF_SIGNED, (request, response) => {
      host = request.headers.host
      servername = (request.socket as TLSSocket).servername
      response.end()
    }),
  )
  const { send } = await sending({ answers, ca: SELF_SIGNED.cert })
  expect(await send(`https://receiver.test.:${port}`)).toMatchObject({ status: 200, error: null })
  expect([host, servername]).toEqual([`receiver.test:${port}`, 'receiver.test'])
  expect(await send(`https://other.test.:${port}`)).toMatchObject({ error: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

/** Interim responses that nobody asked for. */
const INTERIM: Record<string, string> = {
  '100': 'HTTP/1.1 100 Continue\r\n\r\n',
  '100 with headers': 'HTTP/1.1 100 Continue\r\nServer: a proxy\r\n\r\n',
  '102': 'HTTP/1.1 102 Processing\r\n\r\n',
  '103': 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n',
  several: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
  '103 before 100': 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
  none: '',
}

test.for(Object.entries(INTERIM))(
  'what comes before the final response is skipped, in one piece or byte by byte: %s',
  async ([, interim], { running, sending }) => {
    const said = `${interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`
    let requests = 0
    const accept = (isWhole: boolean) => (socket: Socket) =>
      socket.on('data', async () => {
        requests++
        for (const piece of isWhole ? [said] : said) {
          socket.write(piece)
          await nextTurn()
        }
      })
    const { send } = await sending()
    for (const isWhole of [true, false]) {
      const { port } = await running(tcpReceiver(accept(isWhole)))
      // The second one, on the same connection or another.
      for (let n = 0; n < 2; n++) {
        expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ status: 200, error: null, response: 'ok' })
        await nextTurn()
      }
    }
    expect(requests).toBe(4)
  },
)

test('a receiver that says 100 and no more, or one without end, has not answered', async ({ running, sending }) => {
  const { send } = await sending({ timeoutMs: SHORT_MS })
  const silent = await running(tcpReceiver(saying('HTTP/1.1 100 Continue\r\n\r\n')))
  const closing = await running(tcpReceiver((socket) => socket.once('data', () => socket.end('HTTP/1.1 100 Con'))))
  const endless = await running(
    tcpReceiver((socket) => {
      const drip = setInterval(() => socket.write(`HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(1000)}\r\n\r\n`), 20)
      socket.on('close', () => clearInterval(drip))
    }),
  )
  const long = await running(tcpReceiver(saying(`HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(100_000)}`)))
  const errors = await Promise.all(
    [silent, closing, endless, long].map(async ({ port }) => (await send(`http://127.0.0.1:${port}`)).error),
  )
  expect(errors).toEqual([
    'timeout',
    'connection lost',
    'timeout',
    expect.stringMatching(/invalid response|connection lost/),
  ])
})
