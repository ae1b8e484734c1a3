import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { authenticate, type Credentials } from '../access/auth.js'
import type { Engine } from '../engine/engine.js'
import { EngineError } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import { Execution } from '../query/execution.js'
import { Sessions } from '../query/sessions.js'
import { Body } from './body.js'
import { Reply, replyEncoding } from './reply.js'
import { readQuery } from './request.js'

export type HandlerOptions = { credentials: Credentials; maxConcurrentQueries: number }

/** As much as a server holds back before it sends the status. */
const holdBytes = 1024 * 1024
/** With wait_end_of_query, which a server keeps on disk. */
const holdAllBytes = 64 * 1024 * 1024
/** For clients to take their last answer when the server ends. */
const farewellMs = 1_000

type Work = { response: ServerResponse; stop: (reason: EngineError) => void; done: Promise<void> }

/** Answers requests for queries. Counts and knows those that run, so that they can be stopped. */
export class QueryHandler {
  readonly #engine: Engine
  readonly #pipes: Pipes
  readonly #options: HandlerOptions
  readonly #sessions = new Sessions()
  /** By query id. */
  readonly #works = new Map<string, Work>()
  #isStopping = false

  constructor(engine: Engine, pipes: Pipes, options: HandlerOptions) {
    this.#engine = engine
    this.#pipes = pipes
    this.#options = options
  }

  /** Never throws: what goes wrong is in the answer. */
  async handle(request: IncomingMessage, response: ServerResponse, url: URLSearchParams): Promise<void> {
    const queryId = url.get('query_id') || randomUUID()
    const reply = new Reply(response, {
      encoding: replyEncoding(request, url),
      holdBytes: isTrue(url.get('wait_end_of_query')) ? holdAllBytes : holdBytes,
      timeoutMs: seconds(url.get('http_send_timeout')) * 1000,
    })
    let body: Body | undefined
    try {
      reply.header('X-ClickHouse-Query-Id', queryId.replace(/[^\x20-\x7e]/g, encodeURIComponent))
      reply.header('X-ClickHouse-Timezone', this.#engine.timezone)
      reply.header('X-ClickHouse-Server-Display-Name', 'plumbline-clickhouse')
      authenticate(request, url, this.#options.credentials)
      this.#assertRoom(queryId)
      body = new Body(request, seconds(url.get('http_receive_timeout')) * 1000)
      await this.#work(queryId, request, response, url, body, reply)
    } catch (error) {
      await reply.fail(EngineError.from(error), this.#engine.version).catch(() => response.destroy())
    } finally {
      body?.discard()
    }
  }

  /** Refuses new requests, stops those that run and resolves when all have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const works = [...this.#works.values()]
    for (const { stop } of works) stop(shuttingDown())
    const done = Promise.allSettled(works.map((work) => work.done))
    await Promise.race([done, sleep(farewellMs, undefined, { ref: false })])
    for (const { response } of this.#works.values()) response.destroy()
    await done
    await this.#sessions.closeAll()
  }

  #assertRoom(queryId: string): void {
    if (this.#isStopping) throw shuttingDown()
    const max = this.#options.maxConcurrentQueries
    if (this.#works.size >= max) {
      throw EngineError.of(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', `Too many simultaneous queries. Maximum: ${max}`)
    }
    if (this.#works.has(queryId)) {
      const text = `Query with id = ${queryId} is already running`
      throw EngineError.of(216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', text)
    }
  }

  async #work(
    queryId: string,
    request: IncomingMessage,
    response: ServerResponse,
    url: URLSearchParams,
    body: Body,
    reply: Reply,
  ): Promise<void> {
    const execution = new Execution(this.#engine, this.#pipes, this.#sessions, { request, url, body, reply })
    const stop = (reason: EngineError) => {
      body.stop(reason)
      execution.cancel()
    }
    const onClose = () => {
      if (!response.writableFinished) stop(clientGone())
    }
    response.once('close', onClose)
    const done = readQuery(request, url, body).then((asked) => execution.run(asked))
    this.#works.set(queryId, { response, stop, done })
    try {
      await done
    } finally {
      response.off('close', onClose)
      this.#works.delete(queryId)
    }
  }
}

const seconds = (text: string | null) => Number(text) || 30
const isTrue = (text: string | null) => text === '1' || text === 'true'

const shuttingDown = () => EngineError.of(236, 'ABORTED', 'The server is shutting down')
const clientGone = () => EngineError.of(210, 'NETWORK_ERROR', 'The client is gone')
