import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Coverage, coverageOf } from '../../clickhouse/chain/coverage.js'
import type { Ledger } from '../../clickhouse/chain/ledger.js'
import type { Asked as Extent } from '../../clickhouse/chain/missing.js'
import type { Search } from '../../clickhouse/chain/searched.js'
import type { JobName } from '../../clickhouse/jobs/periods.js'
import type { QuerySignal, ReadOptions } from '../../clickhouse/store/define-query.js'
import { isoSeconds } from '../../process/instants.js'
import { problemResponses } from '../http/problem.js'
import {
  AS_OF_HEADER,
  AsOfEcho,
  AsOfQuery,
  type Moment,
  momentOf,
  noSnapshot,
  readInstants,
  snapshotMomentOf,
} from './as-of.js'
import type { CachePolicy } from './cache/policies.js'
import { nextCursor, requireOwnCursor } from './cursor.js'
import { type ExportedRows, type exportResponse, sendExport } from './export.js'
import { KnownAtQuery } from './known-at.js'
import { storedUntil } from './ledger.js'
import { querySignal } from './query-signal.js'
import { type Range, type RangeParameters, readRange, requireOptionsOfFormat } from './range.js'
import { type Creation, requireStable, StableParams } from './stable.js'

/** The subjects that an answer may have, and what its function receives for each. */
type Subjects = {
  /** Now, or what the route's own parameters name. */
  now: unknown
  /** An instant of the chain's history: now, or the requested `as_of`. Before the first block it is a 404. */
  moment: Moment
  /** The newest snapshot at that time; its history is named by the route's tag. null becomes a 404. */
  snapshot: Moment
  /** The rows between two instants, in the requested format. */
  range: { range: Range }
}
type About = keyof Subjects

type Shape = z.core.$ZodLooseShape
type QueryOf<Query extends Shape> = z.output<z.ZodObject<Query, z.core.$strict>>
type ResponseOf<Subject extends About> = Subject extends 'range' ? ReturnType<typeof exportResponse> : z.ZodObject

/** What a route's functions receive of a request. */
type Request<Query extends Shape> = {
  app: FastifyInstance
  query: QueryOf<Query>
  /** The instant by which the answer was published, if its parameter `known_at` names one; else null. */
  knownAt: Date | null
  /** Aborts the queries of the answer when nobody waits for it any more. */
  signal: QuerySignal
}
type RequestAbout<Path extends string, Subject extends About, Query extends Shape> = Request<Query> &
  (Path extends `${string}/:address${string}` ? { stable: string } : unknown) &
  Subjects[Subject]

/**
 * The coverage of what the route `covers`, and what it was computed from: the ledger, and what each of `jobs` has searched,
 * in their order.
 */
type Covered = {
  coverage: Coverage
  ledger: Ledger
  /**
   * The cut-off of the answer: the requested instant, and in a live answer the newest block that its ledger has. What is stored
   * of later blocks may be part of a batch that is not whole yet, and the coverage does not speak of it.
   */
  cutoff: Date
  searches: readonly Search[]
  since: Creation | undefined
  /** The options of its reads: what they find is kept while their tables stay as they are. */
  reads: ReadOptions
}

/** What an answer is about. If it `isOfWindows`, which end at the cut-off, it begins as much earlier as that is before `to`. */
type Covers = Extent & { jobs?: readonly JobName[]; isOfWindows?: true }

/** The body of an answer. `as_of` and `coverage` are added if the response has them. */
type Body<Subject extends About, Response> = Response extends z.ZodObject
  ?
      | (Omit<z.output<Response>, 'as_of' | 'coverage'> & { coverage?: Coverage })
      | (Subject extends 'snapshot' ? null : never)
  : ExportedRows

type Declaration<Path extends string, Subject extends About, Query extends Shape, Response> = {
  /** Its path. With `:address` it is about a tracked stable: any other address is a 404. */
  path: Path
  tag: string
  operationId: string
  summary: string
  description: string
  about: Subject
  /**
   * All of its parameters: any other is a 400. If omitted, only `as_of`, with `known_at` for a snapshot, or none. A
   * route with `known_at` also answers about stables that it does not know: whether one is tracked may have become known
   * later.
   */
  query?: Subject extends 'moment' | 'snapshot' ? Query & typeof AsOfQuery : Query
  response: Response
  /** Statuses that it can fail with, besides those of every route; see `problemsOf` for the default. */
  problems?: readonly number[]
  /** How old its answers may be. If omitted, each request is computed. */
  cache?: CachePolicy
  /** The price of a request, in whole units of the reference stable. If omitted, it is free. */
  price?: string
  /** How many requests it counts as against the caller's limit; 1 if omitted. */
  cost?: (request: Omit<Request<Query>, 'signal' | 'knownAt'>) => number | Promise<number>
  /** Throws if there is no answer. Runs before the payment, so that nobody pays for an answer that does not exist. */
  check?: (request: Request<Query>) => Promise<void> | void
  /**
   * What the answer is about, from which its coverage is computed: it is in the answer, in the header of an export, and
   * in the 402. Time that one of `jobs` has not searched is missing. If omitted, the answer has none, or computes its own.
   */
  covers?: (request: RequestAbout<Path, Subject, Query> & { since: Creation | undefined }) => Covers
  /** Answers every caller, even with an invalid key, above the limit or under overload. */
  always?: true
  answer: (
    request: RequestAbout<Path, Subject, Query> & Covered,
  ) => Promise<Body<Subject, Response>> | Body<Subject, Response>
}

/**
 * A declaration without the types of its path and parameters, and what follows from it. Its functions are only called
 * with what is built from the declaration itself.
 */
type Route = Omit<Declaration<string, About, Shape, z.ZodObject>, 'query' | 'response' | 'covers' | 'answer'> & {
  query: Shape
  response: ResponseOf<About>
  isOfStable: boolean
  isOfPast: boolean
  covers?: (subject: SubjectOfRequest & { since: Creation | undefined }) => Covers
  answer: (subject: CoveredSubject) => Promise<object | null> | object | null
}
type SubjectOfRequest = Request<Shape> & { stable: string | undefined } & Partial<Moment & { range: Range }>
type CoveredSubject = SubjectOfRequest & Partial<Covered>

function routeOf(declared: Omit<Route, 'query' | 'isOfStable' | 'isOfPast'> & { query?: Shape | undefined }): Route {
  const { path, about, query } = declared
  const isOfPast = about === 'moment' || about === 'snapshot'
  const ofAbout = about === 'snapshot' ? { ...AsOfQuery, ...KnownAtQuery } : isOfPast ? AsOfQuery : {}
  return { ...declared, query: query ?? ofAbout, isOfStable: path.includes('/:address'), isOfPast }
}

function problemsOf({ isOfStable, isOfPast, price }: Route): number[] {
  return [400, ...(price === undefined ? [] : [401, 402]), ...(isOfStable || isOfPast ? [404] : []), 503]
}

function schemaOf(route: Route) {
  const { tag, operationId, summary, description, price, isOfStable, query, response } = route
  return {
    tags: [tag],
    operationId,
    summary,
    description,
    ...(price !== undefined && { security: [{ subscription: [] }, { payment: [] }] }),
    ...(isOfStable && { params: StableParams }),
    querystring: z.strictObject(query),
    response: { 200: response, ...problemResponses(...(route.problems ?? problemsOf(route))) },
  }
}

const inputOf = (app: FastifyInstance, request: FastifyRequest): Request<Shape> => ({
  app,
  query: request.query as QueryOf<Shape>,
  knownAt: request.knownAt,
  signal: querySignal(request),
})

/** What a request is about. Throws the 404s, and the 400s of a range. */
async function subjectOf(app: FastifyInstance, request: FastifyRequest, { about, tag, isOfStable }: Route) {
  const stable = isOfStable ? (request.params as z.output<typeof StableParams>).address : undefined
  if (stable !== undefined && request.knownAt === null) await requireStable(app, stable)
  if (about === 'moment') return { stable, ...(await momentOf(app, request)) }
  if (about === 'snapshot') return { stable, ...snapshotMomentOf(app, request, tag) }
  if (about !== 'range') return { stable }
  const query = request.query as RangeParameters
  requireOptionsOfFormat(query)
  return { stable, range: readRange(app, query) }
}

/** What a request is about, and how much of it is measured. */
async function coveredSubjectOf(
  app: FastifyInstance,
  request: FastifyRequest,
  route: Route,
  isOffer = false,
): Promise<CoveredSubject> {
  const subject = { ...inputOf(app, request), ...(await subjectOf(app, request, route)) }
  if (!route.covers) return subject
  const { stable, knownAt, signal } = subject
  // When it became known that a stable exists is not recorded.
  const since = stable !== undefined && knownAt === null ? await app.stables.creationOf(stable) : undefined
  const { jobs = [], isOfWindows, ...extent } = route.covers({ ...subject, since })
  // Before the data is read, which may only be added to meanwhile.
  const [ledger, ...searches] = await Promise.all([
    knownAt ? app.ledger.readAsOf(knownAt, { signal }) : app.ledger.read(extent.to, { isOffer }),
    ...jobs.map((job) => app.searches.read(job, { known_at: knownAt, signal })),
  ])
  const kept = request.asOf === null ? app.reads.now() : app.reads.given(ledger)
  // The clock of the chain may be ahead of ours.
  const stored = request.asOf === null ? storedUntil(ledger, extent.families) : 0
  const cutoff = new Date(1000 * (stored || extent.to))
  const earlier = isOfWindows ? Math.max(0, extent.to - cutoff.getTime() / 1000) : 0
  const coverage = coverageOf(ledger, { ...extent, from: Math.max(0, extent.from - earlier), searches })
  return { ...subject, since, ledger, cutoff, searches, coverage, reads: { signal, kept } }
}

/** The answer to a request; an export is sent already. */
async function respond(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply, route: Route) {
  const { about, tag, response, answer } = route
  const read = async () => {
    const subject = await coveredSubjectOf(app, request, route)
    return { body: await answer(subject), coverage: subject.coverage }
  }
  if (about === 'range')
    return sendExport(app, request, reply, async () => {
      const { body, coverage } = await read()
      return { ...(body as ExportedRows), coverage, query: request.query as RangeParameters }
    })
  const { body, coverage } = await read()
  if (body === null) throw noSnapshot(tag, request)
  const fields = response instanceof z.ZodObject ? response.shape : {}
  const as_of = request.asOf && isoSeconds(request.asOf)
  if (as_of !== null) reply.header(AS_OF_HEADER, as_of)
  const known_at = request.knownAt && isoSeconds(request.knownAt)
  return {
    ...('coverage' in fields && { coverage }),
    ...body,
    ...('next_cursor' in body && { next_cursor: nextCursor(request, body.next_cursor as string | null) }),
    ...((fields.as_of === AsOfEcho || as_of !== null) && { as_of }),
    ...(known_at !== null && { known_at }),
  }
}

/**
 * A GET route made from its declaration. All routes follow the same sequence: the parameters are checked (400), then
 * whether there is an answer (404), then the payment, if the route has a price (402); then the answer is made, and
 * repeats the requested instant in its body and a header.
 */
export function endpoint<
  const Path extends string,
  Subject extends About,
  Response extends ResponseOf<Subject>,
  Query extends Shape = Record<never, never>,
>(declared: Declaration<Path, Subject, Query, Response>): FastifyPluginAsync {
  const route = routeOf(declared as unknown as Parameters<typeof routeOf>[0])
  const { path, about, cache, price, cost, check, always, covers } = route
  const schema = schemaOf(route)
  return async (app) => {
    /** For the 402: fails as the request would that is paid. */
    async function coverageFor(request: FastifyRequest): Promise<Coverage> {
      await check?.(inputOf(app, request))
      return (await coveredSubjectOf(app, request, route, true)).coverage as Coverage
    }

    app.route({
      method: 'GET',
      url: path,
      schema,
      config: {
        ...(cache && { cache }),
        ...(price !== undefined && { price, ...(covers && { coverageOf: coverageFor }) }),
        ...(cost && {
          cost: (request: FastifyRequest & { query: QueryOf<Shape> }) =>
            about === 'range' && app.wholeExports.has(request) ? 1 : cost({ app, query: request.query }),
        }),
        ...(always && { always }),
      },
      preHandler: async (request) => {
        Object.assign(request, readInstants(app, request.query as { as_of?: string; known_at?: string }))
        if (!route.isOfPast) request.asOf = null
        requireOwnCursor(request)
        await check?.(inputOf(app, request))
        if (price !== undefined) await subjectOf(app, request, route)
      },
      handler: (request, reply) => respond(app, request, reply, route),
    })
  }
}
