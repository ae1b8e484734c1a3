import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Engine } from '../engine/engine.js'
import type { Pipes } from '../engine/pipes.js'
import type { QueryLog } from '../query/query-log.js'
import { type HandlerOptions, QueryHandler } from './handler.js'

export type ServerOptions = HandlerOptions & { port: number }

/** A ClickHouse server allows 1 MB for the URL alone. */
const maxHeaderSize = 1024 * 1024 + 64 * 1024

/**
 * The idle time that clients are shown, and a longer real one, so that no connection is closed just as a request is
 * sent.
 */
const keepAlive = 'timeout=30'
const keepAliveTimeout = 40_000

/** ClickHouse's HTTP interface on 127.0.0.1. */
export class HttpServer {
  readonly #server: Server
  readonly #handler: QueryHandler

  private constructor(server: Server, handler: QueryHandler) {
    this.#server = server
    this.#handler = handler
  }

  /** Resolves when the server is listening. Rejects if the port is in use. */
  static async listen(
    engine: Engine,
    pipes: Pipes,
    queryLog: QueryLog | undefined,
    options: ServerOptions,
  ): Promise<HttpServer> {
    const handler = new QueryHandler(engine, pipes, queryLog, options)
    const server = createServer({ keepAliveTimeout, requestTimeout: 0, maxHeaderSize }, (request, response) => {
      response.on('error', () => undefined)
      inTurn(request, response, () => route(handler, request, response))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(options.port, '127.0.0.1', () => resolve())
    })
    return new HttpServer(server, handler)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Accepts no more requests, stops running queries and resolves when the last response was sent. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    await this.#handler.stop()
    // A connection becomes idle as soon as its response has been handed to the socket.
    const idle = setInterval(() => this.#server.closeIdleConnections(), 10)
    const late = setTimeout(() => this.#server.closeAllConnections(), lastBytesMs)
    await closed
    clearInterval(idle)
    clearTimeout(late)
  }
}

/** Time for the last bytes of the last responses. */
const lastBytesMs = 500

const handles = `Use / or /ping for health checks.
Or /replicas_status for more sophisticated health checks.

Send queries from your program with POST method or GET /?query=...
`

/** The latest response of each connection. */
const latest = new WeakMap<Socket, ServerResponse>()

/**
 * Calls `handle` when the earlier responses on the same connection have ended, as clients may pipeline requests. Does not
 * call it if the connection has closed by then: Node sends no `close` event to a response whose turn has not come.
 */
function inTurn({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
  const before = latest.get(socket)
  latest.set(socket, response)
  if (!before || before.closed) handle()
  else {
    before.once('close', () => {
      if (!socket.destroyed) handle()
    })
  }
}

function route(handler: QueryHandler, request: IncomingMessage, response: ServerResponse): void {
  const { method } = request
  const [path, query] = splitOnce(request.url ?? '/', '?')
  const url = new URLSearchParams(query)
  if (response.shouldKeepAlive) response.setHeader('Keep-Alive', keepAlive)
  const answer = (status: number, text: string) => {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=UTF-8' })
    response.end(text)
  }
  if (path === '/ping' || path === '/replicas_status') answer(200, 'Ok.\n')
  else if (path !== '/') answer(404, `There is no handle ${path}\n\n${handles}`)
  // As on a server without CORS configuration: pages of other origins get no permission.
  else if (method === 'OPTIONS') answer(200, '')
  else if (method !== 'GET' && method !== 'POST' && method !== 'HEAD') answer(501, `${method} is not supported\n`)
  else if (method !== 'POST' && !url.has('query')) answer(200, 'Ok.\n')
  else void handler.handle(request, response, url)
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
