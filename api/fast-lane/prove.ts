import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { sendRendered } from './send-rendered.js'

/** A request on the loopback interface takes a few milliseconds; this allows for a stalled machine. */
const TIMEOUT_MS = 2000

const TEXT = { status: 200, head: 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n', body: 'text' }
const BYTES = { status: 200, head: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n', body: Buffer.from('bytes') }
const NOTHING = { status: 304, head: 'HTTP/1.1 304 Not Modified\r\n', body: '' }
const RENDERED = [TEXT, BYTES, NOTHING, TEXT]
const EXPECTED = RENDERED.map(({ head, body }) => `${head}\r\n${body}`).join('')

/** An ordinary answer, which comes last and closes the connection. */
const ORDINARY = /^HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)*\r\nordinary$/i

/**
 * Whether this version of Node sends responses of `send` exactly as rendered, several on one connection, followed by an
 * ordinary one. Tests it with a temporary server on the loopback interface.
 */
export async function isSentAsRendered(send: typeof sendRendered = sendRendered): Promise<boolean> {
  let nth = 0
  const answer = (response: ServerResponse): void => {
    const rendered = RENDERED[nth++]
    if (rendered === undefined) {
      response.setHeader('content-length', 'ordinary'.length)
      response.end('ordinary')
      return
    }
    response.statusCode = rendered.status
    send(response, rendered.head, rendered.body)
  }
  const server = createServer((_, response) => {
    try {
      answer(response)
    } catch {
      response.destroy()
    }
  })
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    server.listen({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening', { signal })
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', signal })
    const request = (more = '') => `GET / HTTP/1.1\r\nhost: loopback\r\n${more}\r\n`
    socket.write(request().repeat(RENDERED.length) + request('connection: close\r\n'))
    const wire = await text(socket.setEncoding('latin1'))
    return wire.startsWith(EXPECTED) && ORDINARY.test(wire.slice(EXPECTED.length))
  } catch {
    return false
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

let proof: Promise<boolean> | null = null

/** Whether Node sends a head as it is rendered, tested once per process, because it depends only on Node. */
export function isProven(): Promise<boolean> {
  proof ??= isSentAsRendered()
  return proof
}
