import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { BadParameterError, PlumblineError } from '../../process/errors.js'
import { InvalidRequestError, ProblemError, UnavailableError, UrlTooLongError } from './errors.js'
import { helpOf, PROBLEM_KINDS, typeOf } from './problem-kinds.js'

const Fault = z.object({
  parameter: z.string().meta({ description: 'Name of the parameter' }),
  detail: z.string().meta({ description: 'What is wrong with it' }),
})

/** RFC 9457. `parameter` is the first invalid one, `errors` has all of them. */
const Problem = z
  .object({
    type: z.string().meta({
      description: `Identifies the kind of problem. A refused payment has one of MPP’s types (https://paymentauth.org/problems/…); otherwise, after urn:plumbline:problem: ${Object.entries(
        PROBLEM_KINDS,
      )
        .map(([kind, { means }]) => `${kind} (${means})`)
        .join('; ')}`,
      examples: [typeOf('bad-parameter')],
    }),
    title: z.string().meta({ description: 'The status as text' }),
    status: z.int().meta({ description: 'The status of the response' }),
    detail: z.string().meta({ description: 'What is wrong with this request, in plain English' }),
    help: z.string().meta({
      description: 'Path of the section of the documentation that explains it and says what to do',
      examples: [helpOf('bad-parameter')],
    }),
    instance: z.string().optional().meta({ description: 'The path of the request' }),
    parameter: z.string().optional().meta({ description: 'The first invalid parameter' }),
    errors: z.array(Fault).optional().meta({ description: 'All invalid parameters' }),
    price: z
      .string()
      .optional()
      .meta({ description: 'With 402: the price of the request, in whole units of any of the currencies' }),
    currency: z.string().optional().meta({ description: 'With 402: address of the stable that is preferred' }),
    currencies: z
      .array(z.string())
      .optional()
      .meta({ description: 'With 402: addresses of all stables that the price can be paid with, preferred first' }),
    coverage: Coverage.optional().meta({ description: 'With 402: how complete the answer is that is for sale' }),
  })
  .meta({ id: 'Problem' })
type Problem = z.infer<typeof Problem>

/** The media type of every problem document. */
export const PROBLEM_TYPE = 'application/problem+json'

/** For a route's `response`: the statuses that it can fail with, besides those of every route. */
export function problemResponses<Status extends number>(...statuses: Status[]) {
  const response = (status: number) => ({
    description: STATUS_CODES[status] as string,
    content: { [PROBLEM_TYPE]: { schema: Problem } },
  })
  type Response = ReturnType<typeof response>
  return Object.fromEntries(statuses.map((status) => [status, response(status)])) as Record<Status, Response>
}

/** The problem of an error, without internals: ClickHouse's messages go to the log. */
function problemOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (error instanceof BadParameterError)
    return new InvalidRequestError([{ parameter: error.parameter, detail: error.message }])
  if (error instanceof PlumblineError && error.retryable) return new UnavailableError(error)
  const { statusCode: status, code, message } = error as Partial<FastifyError>
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new UrlTooLongError()
  if (code === 'FST_ERR_BAD_URL')
    return new ProblemError('the URL is not properly encoded', { status: 400, kind: 'bad-url' })
  // Fastify's own refusals, such as a malformed body, describe the request and nothing else.
  if (status !== undefined && status >= 400 && status < 500)
    return new ProblemError(`${message}`, { status, kind: 'bad-request' })
  return new ProblemError('internal error; the server log has the details', { status: 500, kind: 'internal' })
}

function documentOf(problem: ProblemError, instance?: string): Problem {
  const { status, type, message, help, faults, price, coverage } = problem
  return {
    type,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    help,
    ...(instance !== undefined && { instance }),
    ...(faults[0] && { parameter: faults[0].parameter, errors: [...faults] }),
    ...(price && { price: price.price, currency: price.currency }),
    ...(price?.currencies && { currencies: [...price.currencies] }),
    ...(coverage && { coverage }),
  }
}

/** Fastify's error handler, also for requests that fail before routing. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error)
  if (problem.isLogged && !request.raw.aborted) request.log.error({ err: error }, 'request failed')
  return reply
    .code(problem.status)
    .headers({ 'access-control-allow-origin': '*', 'x-request-id': request.id, ...problem.headers })
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(documentOf(problem, request.url.split('?', 1)[0])))
}

/** Requests that Node's parser refuses, by error code. */
const REFUSED_BY_NODE: Record<string, ProblemError> = {
  HPE_HEADER_OVERFLOW: new ProblemError('the URL and headers together are too large', {
    status: 431,
    kind: 'headers-too-large',
  }),
  ERR_HTTP_REQUEST_TIMEOUT: new ProblemError('the request took too long to arrive', { status: 408, kind: 'too-slow' }),
}
const NO_REQUEST = new ProblemError('this is not a valid HTTP request', { status: 400, kind: 'bad-request' })

/** A complete HTTP response for an invalid request: Node's parser has refused it, so there is no reply to use. */
export function rawProblem(code = ''): string {
  const problem = REFUSED_BY_NODE[code] ?? NO_REQUEST
  const body = JSON.stringify(documentOf(problem))
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'access-control-allow-origin: *',
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
