import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { isoSeconds } from '../../process/instants.js'
import { problemResponses } from '../http/problem.js'
import {
  AS_OF_HEADER,
  AsOfEcho,
  AsOfQuery,
  type Moment,
  momentOf,
  noSnapshot,
  readAsOf,
  snapshotMomentOf,
} from './as-of.js'
import type { CachePolicy } from './cache/policies.js'
import { type ExportedRows, type exportResponse, sendExport } from './export.js'
import { querySignal } from './query-signal.js'
import { type Range, type RangeParameters, readRange } from './range.js'
import { requireStable, StableParams } from './stable.js'

/** What an answer may be about, and what its function is told of that. */
type Subjects = {
  /** What is now, or what the route's own parameters say. */
  now: unknown
  /** An instant of the chain's history: now, or the one that `as_of` asks for. Before the first block it is 404. */
  moment: Moment
  /** The newest snapshot by then of a history that is called as the route's tag is. null is answered with 404. */
  snapshot: Moment
  /** The rows from one instant to another, in the format that is asked for. */
  range: { range: Range }
}
type About = keyof Subjects

type Shape = z.core.$ZodLooseShape
type QueryOf<Query extends Shape> = z.output<z.ZodObject<Query, z.core.$strict>>
type ResponseOf<Subject extends About> = Subject extends 'range' ? ReturnType<typeof exportResponse> : z.ZodObject

/** What a route's functions get to know of a request. */
type Request<Query extends Shape> = {
  app: FastifyInstance
  query: QueryOf<Query>
  /** Ends the queries of the answer when nobody waits for it any more. */
  signal: QuerySignal
}
type Asked<Path extends string, Subject extends About, Query extends Shape> = Request<Query> &
  (Path extends `${string}/:address${string}` ? { stable: string } : unknown) &
  Subjects[Subject]

/** The body of an answer. `as_of` is put in where the response has it. */
type Body<Subject extends About, Response> = Response extends z.ZodObject
  ? Omit<z.output<Response>, 'as_of'> | (Subject extends 'snapshot' ? null : never)
  : ExportedRows

type Declaration<Path extends string, Subject extends About, Query extends Shape, Response> = {
  /** Where it is. With `:address` it is about a tracked stable: any other address is 404. */
  path: Path
  tag: string
  operationId: string
  summary: string
  description: string
  about: Subject
  /** Its parameters: all that there are, since any other is 400. `as_of` alone, or none, where left out. */
  query?: Subject extends 'moment' | 'snapshot' ? Query & typeof AsOfQuery : Query
  response: Response
  /** Statuses that it can fail with, besides those that any route can; see `problemsOf` where left out. */
  problems?: readonly number[]
  /** How old its answers may be. Where left out they are made for each request. */
  cache?: CachePolicy
  /** What a request costs, in whole units of the reference stable. Nothing where left out. */
  price?: string
  /** As how many requests one counts against the limit of its caller; 1 where left out. */
  cost?: (request: Omit<Request<Query>, 'signal'>) => number
  /** Throws where there is no answer. Before the price is asked: nobody pays for what does not exist. */
  check?: (request: Request<Query>) => Promise<void> | void
  /** Answers whoever asks: neither a wrong key nor a limit nor load keeps it from that. */
  always?: true
  answer: (asked: Asked<Path, Subject, Query>) => Promise<Body<Subject, Response>> | Body<Subject, Response>
}

function problemsOf(isMissable: boolean, price: string | undefined): number[] {
  return [400, ...(price === undefined ? [] : [401, 402]), ...(isMissable ? [404] : []), 503]
}

/**
 * A route that answers GET, by what it says of itself: the same sequence for all of them. Parameters are checked (400),
 * then whether there is anything to tell (404), then, where it has a price, whether that is paid (402); then the answer
 * is made, and repeats in its body and a header the instant that was asked for.
 */
export function endpoint<
  const Path extends string,
  Subject extends About,
  Response extends ResponseOf<Subject>,
  Query extends Shape = Record<never, never>,
>(declared: Declaration<Path, Subject, Query, Response>): FastifyPluginAsync {
  const { path, tag, about, cache, price, cost, check, always } = declared
  const response: ResponseOf<About> = declared.response
  const isOfStable = path.includes('/:address')
  const isOfPast = about === 'moment' || about === 'snapshot'
  const query = declared.query ?? (isOfPast ? AsOfQuery : {})
  const problems = declared.problems ?? problemsOf(isOfStable || isOfPast, price)
  const hasEcho = response instanceof z.ZodObject && response.shape.as_of === AsOfEcho
  // What it gets is made below, by the same declaration.
  const answer = declared.answer as (asked: object) => Promise<object | null> | object | null

  const schema = {
    tags: [tag],
    operationId: declared.operationId,
    summary: declared.summary,
    description: declared.description,
    ...(price !== undefined && { security: [{ subscription: [] }] }),
    ...(isOfStable && { params: StableParams }),
    querystring: z.strictObject(query),
    response: { 200: response, ...problemResponses(...problems) },
  }

  return async (app) => {
    const asked = (request: FastifyRequest): Request<Query> => ({
      app,
      query: request.query as QueryOf<Query>,
      signal: querySignal(request),
    })

    async function subjectOf(request: FastifyRequest) {
      const stable = isOfStable ? (request.params as z.output<typeof StableParams>).address : undefined
      if (stable !== undefined) await requireStable(app, stable)
      if (about === 'moment') return { stable, ...(await momentOf(app, request.asOf)) }
      if (about === 'snapshot') return { stable, ...snapshotMomentOf(app, request.asOf, tag) }
      if (about === 'range') return { stable, range: readRange(app, request.query as RangeParameters) }
      return { stable }
    }

    app.route({
      method: 'GET',
      url: path,
      schema,
      exposeHeadRoute: about !== 'range',
      config: {
        ...(cache && { cache }),
        ...(price !== undefined && { price }),
        ...(cost && { cost: ({ query }: { query: QueryOf<Query> }) => cost({ app, query }) }),
        ...(always && { always }),
      },
      preHandler: async (request) => {
        if (isOfPast) request.asOf = readAsOf(app, request.query as { as_of?: string })
        await check?.(asked(request))
        if (price !== undefined) await subjectOf(request)
      },
      handler: async (request, reply) => {
        const subject = await subjectOf(request)
        const body = await answer({ ...asked(request), ...subject })
        if (about === 'range')
          return sendExport(app, request, reply, {
            ...(body as ExportedRows),
            format: (request.query as RangeParameters).format,
          })
        if (body === null) throw noSnapshot(tag, request.asOf)
        const as_of = request.asOf && isoSeconds(request.asOf)
        if (as_of !== null) reply.header(AS_OF_HEADER, as_of)
        return { ...body, ...((hasEcho || as_of !== null) && { as_of }) }
      },
    })
  }
}
