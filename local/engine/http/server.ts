import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine } from '../engine/engine.js'
import type { Pipes } from '../engine/pipes.js'
import type { QueryLog } from '../query/query-log.js'
import { type HandlerOptions, QueryHandler } from './handler.js'
import { inTurn } from './in-turn.js'

export type ServerOptions = HandlerOptions & { port: number }

/** A server's own limit is 1 MB for the URL alone. */
const maxHeaderSize = 1024 * 1024 + 64 * 1024

/** What clients are told, and how long a connection without requests is kept: longer, so that none is closed under one. */
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

  /** Resolves when it listens. Rejects when the port is taken. */
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

  /** Takes no more requests, stops those that run and resolves when the last has its answer. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    await this.#handler.stop()
    // A connection is idle once its answer is on the way.
    const idle = setInterval(() => this.#server.closeIdleConnections(), 10)
    const late = setTimeout(() => this.#server.closeAllConnections(), farewellMs)
    await closed
    clearInterval(idle)
    clearTimeout(late)
  }
}

/** For the last bytes of the last answers. */
const farewellMs = 500

const handles = `Use / or /ping for health checks.
Or /replicas_status for more sophisticated health checks.

Send queries from your program with POST method or GET /?query=...
`

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
  // As on a server that is not configured to answer it: a page of another origin may not go on.
  else if (method === 'OPTIONS') answer(200, '')
  else if (method !== 'GET' && method !== 'POST' && method !== 'HEAD') answer(501, `${method} is not supported\n`)
  else if (method !== 'POST' && !url.has('query')) answer(200, 'Ok.\n')
  else void handler.handle(request, response, url)
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
