import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import { z } from 'zod'
import type { Entries } from '../../../process/memory.js'
import { METHODOLOGY_VERSION } from '../../../process/methodology.js'
import { AS_OF_HEADER } from '../as-of.js'
import { Answer, type Variant } from './answer.js'
import { type AnswerCache, createAnswerCache, type Outcome } from './answer-cache.js'
import { preferredCoding } from './encodings.js'
import { createReadFinished } from './finality.js'
import { type CachePolicy, type Finished, freshnessOf } from './policies.js'
import { sendAnswer } from './send-answer.js'
import { type AgedAnswer, sharedAnswers } from './shared-answers.js'

/**
 * A version that changes with the formulas and with the shape that `responses` give to a 200, so that answers of
 * another version of this service are not reused.
 */
export function versionOf(methodology: string, responses: unknown): string {
  const shape = (responses as Record<string, unknown> | undefined)?.['200']
  const text = shape instanceof z.ZodType ? JSON.stringify(z.toJSONSchema(shape, { io: 'input' })) : ''
  return createHash('sha256').update(`${methodology} ${text}`).digest('base64url').slice(0, 8)
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How old answers may be; if omitted, each request is computed. Not for answers that depend on the caller. */
    cache?: CachePolicy
  }
  interface FastifyRequest {
    /** Aborts the queries of an answer that several requests share; null if it is for this request only. */
    sharedSignal: AbortSignal | null
  }
  interface FastifyInstance {
    /** Number of requests to cached routes since the start, by outcome. */
    cacheCounts: Record<Outcome['how'], number>
    answersInMemory: AnswersInMemory
  }
}

/** A cached answer and the pattern of its route. */
type InMemory = AgedAnswer & { variant: Variant; route: string }

type AnswersInMemory = {
  /** The cached answer for a URL, in the requested coding; null if it must be computed or renewed. */
  find: (url: string, acceptEncoding: string | undefined) => InMemory | null
  /** Called when a cached answer has been sent, with all its header fields. */
  onSent: ((variant: Variant, reply: FastifyReply) => void) | null
}

export type CacheOptions = {
  /** Memory for answers, in bytes; 0 disables the cache. */
  maxBytes: number
  /** A monotonic clock; the process's own if omitted. */
  nowMs?: (() => number) | undefined
  /** How long to wait for Redis, in milliseconds; if omitted, no longer than an answer takes. */
  patienceMs?: number | undefined
}

/** URLs and keys are ASCII: a byte a character. */
const URLS_BYTES = 2_000_000
/** `24h` is a different instant each second. */
const RELATIVE = /^\d{1,6}[mhd]$/

/** Whether data that is read later may still change an answer: what is missing may be filled by a backfill. */
function isUnfinished({ isOpen }: CachePolicy, answer: Record<string, unknown>): boolean {
  const { missing_count = 0 } = (answer.coverage ?? {}) as { missing_count?: number }
  return missing_count > 0 || isOpen?.(answer) === true
}

type CachedRequest = { params?: { address?: string }; query: { as_of?: string; known_at?: string } }

/** The key of the answer to a URL, and the pattern of its route. */
type UrlKeys = Entries<string, { key: string; route: string }>

/** The answers that need no handler: those to the URLs in `keys`, as long as they are fresh. */
function answersInMemory(answers: AnswerCache | null, keys: UrlKeys): AnswersInMemory {
  return {
    find: (url, acceptEncoding) => {
      const remembered = keys.get(url)
      const fresh = remembered && answers?.fresh(remembered.key)
      if (!fresh) return null
      const { answer, ageMs } = fresh
      const variant = answer.made(preferredCoding(acceptEncoding))
      return variant ? { answer, ageMs, variant, route: remembered.route } : null
    },
    onSent: null,
  }
}

/** Answers that are served although they are old, by the second: while ClickHouse is away, most of them are. */
const agedAnswers = new WeakMap<Answer, { seconds: number; answer: Answer }>()

function agedAnswer({ answer, ageMs }: Outcome, aged: NonNullable<CachePolicy['aged']>): Answer {
  const seconds = Math.floor(ageMs / 1000)
  const made = agedAnswers.get(answer)
  if (made?.seconds === seconds) return made.answer
  const body = JSON.stringify(aged(JSON.parse(`${answer.body}`), seconds))
  const older = new Answer(Buffer.from(body), answer.asOf, answer.freshness)
  agedAnswers.set(answer, { seconds, answer: older })
  return older
}

/** Runs the handler of a request, and renders what it returns to an answer that is kept as its `policy` allows. */
function renderer(request: FastifyRequest, reply: FastifyReply, handle: () => unknown) {
  // Not reply.serialize, which depends on the status: a 304 may have been sent before.
  const serialize = reply.getSerializationFunction('200') as (payload: unknown) => string
  return async (policy: CachePolicy, finished: Finished): Promise<Answer> => {
    const payload = await handle()
    const body = Buffer.from(serialize(payload))
    const echo = reply.getHeader(AS_OF_HEADER)
    // What was missing from all that was known by an instant stays missing from it.
    const mayBeFilled = finished === 'final' && request.knownAt === null
    const isOpen = mayBeFilled && isUnfinished(policy, payload as Record<string, unknown>)
    return new Answer(body, typeof echo === 'string' ? echo : null, freshnessOf(policy, isOpen ? 'past' : finished))
  }
}

/**
 * Serves the answers of routes with a `cache` policy from memory, with ETag and 304, in the coding that the client
 * prefers. A cached answer is sent as soon as all hooks of the application have passed. Processes of one `database`
 * share answers through Redis. Call it before the routes are added and after all hooks that must see every request.
 */
export function cache(
  app: FastifyInstance,
  { maxBytes, nowMs = () => performance.now(), patienceMs }: CacheOptions,
  database: string,
): void {
  const { memories } = app
  const shared = app.redis && sharedAnswers(app.redis, `plumbline:${database}`, patienceMs)
  const answers = maxBytes > 0 ? createAnswerCache({ maxBytes, memories, shared, nowMs }) : null
  const readFinished = createReadFinished(app.clickhouse, memories, app.now)
  const keys: UrlKeys = memories.entries({
    name: 'urls',
    holds: 'which answer a URL has, and of which route',
    until: 'always: the same URL always means the same answer',
    maxBytes: URLS_BYTES,
    bytesOf: ({ key }, url) => key.length + url.length,
  })
  const counts = { hit: 0, miss: 0, stale: 0 }
  app.decorate('cacheCounts', counts)
  app.decorateRequest('sharedSignal', null)
  app.decorateRequest('asOf', null)
  app.decorateRequest('knownAt', null)

  const inMemory = answersInMemory(answers, keys)
  app.decorate('answersInMemory', inMemory)

  /** Sends the cached answer at once, if there is one in the right coding. */
  function answerFromMemory(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const answer = inMemory.find(request.raw.url as string, request.headers['accept-encoding'])
    if (answer) {
      counts.hit += 1
      sendAnswer(request, reply, { ...answer, how: 'hit' }, answer.variant)
      inMemory.onSent?.(answer.variant, reply)
    } else done()
  }

  /** The handler of a route, whose answers are sent from memory where they can be. */
  const cached = (route: RouteOptions, policy: CachePolicy, handler: RouteHandlerMethod): RouteHandlerMethod => {
    const version = versionOf(METHODOLOGY_VERSION, route.schema?.response)
    return async function answer(this: FastifyInstance, request, reply) {
      const { params, query } = request as CachedRequest
      const isRelative = [query.as_of, query.known_at].some((text) => text !== undefined && RELATIVE.test(text))
      const render = renderer(request, reply, () => handler.call(this, request, reply))
      const { asOf, knownAt } = request
      const compute = async (signal: AbortSignal | null): Promise<Answer> => {
        request.sharedSignal = signal
        // Read before the answer is computed: what is final now stays final meanwhile.
        const finished = isRelative ? 'moving' : await readFinished(policy, { asOf, knownAt, stable: params?.address })
        return render(policy, finished)
      }
      if (!answers) {
        const made = await compute(null)
        return sendAnswer(request, reply, { answer: made, ageMs: 0, how: 'miss' }, await made.variant('identity'))
      }
      const [as_of, known_at] = [asOf, knownAt].map((instant) => instant && instant.getTime() / 1000)
      const key = `${version}:${route.url}:${JSON.stringify([params, { ...query, as_of, known_at }, isRelative])}`
      const outcome = await answers.get(key, compute, request.signal)
      counts[outcome.how] += 1
      if (!isRelative) keys.set(request.raw.url as string, { key, route: route.url })
      const coding = preferredCoding(request.headers['accept-encoding'])
      const isOld = outcome.ageMs > 1000 * policy.maxAgeSeconds && asOf === null && !isRelative
      const sent = isOld && policy.aged ? { ...outcome, answer: agedAnswer(outcome, policy.aged) } : outcome
      return sendAnswer(request, reply, sent, await sent.answer.variant(coding))
    }
  }

  app.addHook('onRoute', (route) => {
    const { cache: policy, price } = route.config ?? {}
    if (policy === undefined) return
    if (price !== undefined) throw new Error(`${route.url}: answers of a route with a price must not be cached`)
    route.handler = cached(route, policy, route.handler)
    route.onRequest = [...[route.onRequest ?? []].flat(), answerFromMemory]
  })
}
