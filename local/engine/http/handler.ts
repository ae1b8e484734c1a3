import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { authenticate } from '../access/auth.js'
import { QuotaUsage, quotaKey } from '../access/quota.js'
import type { User } from '../access/users.js'
import type { Engine } from '../engine/engine.js'
import { EngineError, forUser } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import { Execution, type Services } from '../query/execution.js'
import { logEntry } from '../query/log-entry.js'
import type { QueryLog } from '../query/query-log.js'
import { Registry } from '../query/registry.js'
import { Sessions } from '../query/sessions.js'
import { isTrue } from '../query/settings.js'
import { Body } from './body.js'
import { Reply } from './reply.js'

export type HandlerOptions = { users: readonly User[]; maxConcurrentQueries: number }

/** Time for clients to receive their last response when the server stops. */
const lastResponseMs = 1_000

/** Handles requests with queries: authenticates them, checks limits, runs the statement and logs it. */
export class QueryHandler {
  readonly #services: Services
  readonly #users: ReadonlyMap<string, User>
  readonly #quotas = new QuotaUsage()
  #isStopping = false

  constructor(engine: Engine, pipes: Pipes, queryLog: QueryLog | undefined, options: HandlerOptions) {
    const registry = new Registry(options.maxConcurrentQueries)
    this.#services = { engine, pipes, sessions: new Sessions(), registry, queryLog }
    this.#users = new Map(options.users.map((user) => [user.name, user]))
  }

  /** Never throws: errors are sent in the response. */
  async handle(request: IncomingMessage, response: ServerResponse, url: URLSearchParams): Promise<void> {
    const { engine } = this.#services
    const queryId = url.get('query_id') || String(request.headers['x-clickhouse-query-id'] || randomUUID())
    const reply = Reply.to(request, response, url)
    let body: Body | undefined
    try {
      reply.header('X-ClickHouse-Query-Id', queryId.replace(/[^\x20-\x7e]/g, encodeURIComponent))
      reply.header('X-ClickHouse-Timezone', engine.timezone)
      // Of answers without a format, such as to an INSERT.
      reply.header('Content-Type', 'text/plain; charset=UTF-8')
      reply.header('X-ClickHouse-Server-Display-Name', 'plumbline-clickhouse')
      const user = authenticate(request, url, this.#users)
      if (this.#isStopping) throw shuttingDown()
      if (isTrue(url.get('replace_running_query'))) {
        const waitMs = Number(url.get('replace_running_query_max_wait_ms') ?? 5_000) || 0
        await this.#services.registry.replace(queryId, user, waitMs)
        if (this.#isStopping) throw shuttingDown()
      }
      this.#services.registry.assertRoom(queryId)
      this.#assertQuota(user, request, url)
      body = new Body(request, url, seconds(url.get('http_receive_timeout')) * 1000)
      await this.#work(new Execution(this.#services, { queryId, user, request, response, url, body, reply }), url)
    } catch (error) {
      await reply.fail(EngineError.from(error), engine.version).catch(() => response.destroy())
    } finally {
      body?.discard()
    }
  }

  /** Refuses new requests, stops running queries and resolves when all have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const { engine, registry, sessions } = this.#services
    const merges = engine.stopMerges()
    const running = registry.all()
    for (const execution of running) execution.stop(shuttingDown())
    const done = Promise.allSettled(running.map(({ done }) => done))
    await Promise.race([done, sleep(lastResponseMs, undefined, { ref: false })])
    for (const { response } of registry.all()) response.destroy()
    await done
    await merges
    await sessions.closeAll()
  }

  async #work(execution: Execution, url: URLSearchParams): Promise<void> {
    const { registry, queryLog } = this.#services
    const { response } = execution
    const onClose = () => {
      if (!response.writableFinished) execution.stop(clientGone())
    }
    response.once('close', onClose)
    const startMs = Date.now()
    execution.done = execution.run()
    registry.add(execution)
    let failure: EngineError | undefined
    try {
      await execution.done
    } catch (error) {
      failure = forUser(EngineError.from(error), execution.user.name)
      throw failure
    } finally {
      response.off('close', onClose)
      registry.delete(execution.queryId)
      const endMs = Date.now()
      this.#count(execution, url, (endMs - startMs) / 1000)
      const entry = queryLog && logEntry(execution, { startMs, endMs, failure })
      if (entry) queryLog.record(entry)
    }
  }

  #assertQuota(user: User, request: IncomingMessage, url: URLSearchParams): void {
    if (!user.quota) return
    const key = quotaKey(user.name, user.quota, sentQuotaKey(request, url))
    const exceeded = this.#quotas.take(key, user.quota, Date.now())
    if (!exceeded) return
    const { resource, used, max, nextIntervalMs } = exceeded
    const next = new Date(nextIntervalMs).toISOString().slice(0, 19).replace('T', ' ')
    throw EngineError.of(
      201,
      'QUOTA_EXCEEDED',
      `Quota for user \`${user.name}\` for ${user.quota.interval_seconds}s has been exceeded: ${resource} = ${used}/${max}. Interval will end at ${next}`,
    )
  }

  #count(execution: Execution, url: URLSearchParams, execution_seconds: number): void {
    const { user, request, facts } = execution
    if (!user.quota) return
    const used = { result_rows: facts.figures.result_rows, execution_seconds }
    const key = quotaKey(user.name, user.quota, sentQuotaKey(request, url))
    this.#quotas.add(key, user.quota, used, Date.now())
  }
}

const sentQuotaKey = (request: IncomingMessage, url: URLSearchParams) =>
  url.get('quota_key') ?? String(request.headers['x-clickhouse-quota'] ?? '')

const seconds = (text: string | null) => Number(text) || 30

const shuttingDown = () => EngineError.of(236, 'ABORTED', 'The server is shutting down')
const clientGone = () => EngineError.of(210, 'NETWORK_ERROR', 'The client is gone')
