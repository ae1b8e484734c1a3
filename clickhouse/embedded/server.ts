import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine } from './engine.js'
import { type HandlerOptions, QueryHandler } from './handler.js'
import type { Pipes } from './pipes.js'

export type ServerOptions = HandlerOptions & { port: number }

/** ClickHouse's HTTP interface on 127.0.0.1. */
export class HttpServer {
  readonly #server: Server
  readonly #handler: QueryHandler

  private constructor(server: Server, handler: QueryHandler) {
    this.#server = server
    this.#handler = handler
  }

  /** Resolves when it listens. Rejects when the port is taken. */
  static async listen(engine: Engine, pipes: Pipes, options: ServerOptions): Promise<HttpServer> {
    const handler = new QueryHandler(engine, pipes, options)
    const server = createServer({ keepAliveTimeout: 30_000, requestTimeout: 0 }, (request, response) => {
      response.on('error', () => undefined)
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
      if (pathname === '/ping' || pathname === '/replicas_status') {
        response.setHeader('Content-Type', 'text/plain; charset=UTF-8').end('Ok.\n')
      } else if (pathname !== '/') {
        response.writeHead(404, { 'Content-Type': 'text/plain; charset=UTF-8' })
        response.end(`There is no handle ${pathname}\n\nUse / or /ping for health checks.\n`)
      } else if (request.method === 'GET' && !searchParams.has('query')) {
        response.setHeader('Content-Type', 'text/html; charset=UTF-8').end('Ok.\n')
      } else if (request.method !== 'GET' && request.method !== 'POST' && request.method !== 'HEAD') {
        response.writeHead(501, { 'Content-Type': 'text/plain; charset=UTF-8' })
        response.end(`HTTP method ${request.method} is not supported\n`)
      } else handler.handle(request, response, searchParams)
    })
    server.on('clientError', (_, socket) => socket.destroy())
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
    this.#server.closeIdleConnections()
    await this.#handler.stop()
    this.#server.closeAllConnections()
    await closed
  }
}
