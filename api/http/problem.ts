import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { BadParameterError, PlumblineError } from '../../process/errors.js'
import {
  ConflictError,
  DrainingError,
  ForbiddenError,
  InvalidKeyError,
  InvalidRequestError,
  MethodNotAllowedError,
  MissingKeyError,
  NotFoundError,
  OverloadedError,
  PaymentInUseError,
  PaymentRefusedError,
  PaymentRequiredError,
  PaymentsAwayError,
  ReusedKeyError,
  TooManyRequestsError,
  TooManyStreamsError,
  UrlTooLongError,
  WebhooksNotConfiguredError,
} from './errors.js'

const Fault = z.object({
  parameter: z.string().meta({ description: 'Name of the parameter' }),
  detail: z.string().meta({ description: 'What is wrong with it' }),
})

/** RFC 9457. `parameter` is the first that is at fault, `errors` has all of them. */
const Problem = z
  .object({
    type: z.string().meta({ description: 'Names the kind of problem' }),
    title: z.string().meta({ description: 'The status in words' }),
    status: z.int().meta({ description: 'The status of the response' }),
    detail: z.string().meta({ description: 'What is wrong with this very request, for people' }),
    instance: z.string().optional().meta({ description: 'The path that was asked for' }),
    parameter: z.string().optional().meta({ description: 'The first parameter that is at fault' }),
    errors: z.array(Fault).optional().meta({ description: 'All parameters that are at fault' }),
    price: z
      .string()
      .optional()
      .meta({ description: 'Of 402: what the request costs, in whole units of the currency' }),
    currency: z.string().optional().meta({ description: 'Of 402: address of the stable to pay in' }),
  })
  .meta({ id: 'Problem' })
type Problem = z.infer<typeof Problem>

/** The media type of every problem document. */
export const PROBLEM_TYPE = 'application/problem+json'

/** A client may try again after this many seconds when ClickHouse is away or overloaded. */
const RETRY_AFTER_SECONDS = 5

/** For a route's `response`: the statuses that it can fail with, besides those that any route can. */
export function problemResponses<Status extends number>(...statuses: Status[]) {
  const response = (status: number) => ({
    description: STATUS_CODES[status] as string,
    content: { [PROBLEM_TYPE]: { schema: Problem } },
  })
  type Response = ReturnType<typeof response>
  return Object.fromEntries(statuses.map((status) => [status, response(status)])) as Record<Status, Response>
}

type Answer = {
  status: number
  kind: string
  /** Where it is not one of ours. */
  type?: string
  detail: string
  faults?: Problem['errors']
  price?: { price: string; currency: string }
  headers?: Record<string, string | string[]>
}

/** Of an answer that depends on who asks: no cache may keep it. The scheme is RFC 6750's. */
const challenge = (parameters = ''): Record<string, string> => ({
  'cache-control': 'no-store',
  'www-authenticate': `Bearer realm="plumbline"${parameters}`,
})

/** What a request would have to come with: a payment, of which the types of problems are those of its scheme, or a key. */
function paymentRefusal(error: PaymentRefusedError): Answer {
  const { kind, price, currency, message: detail, retryAfterSeconds } = error
  return {
    status: 402,
    kind,
    type: `https://paymentauth.org/problems/${kind}`,
    detail,
    price: { price, currency },
    headers: {
      ...challenge(),
      'www-authenticate': [error.challenge, 'Bearer realm="plumbline"'],
      ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
    },
  }
}

function refusalOf(error: unknown): Answer | null {
  if (error instanceof PaymentRequiredError) {
    const price = { price: error.price, currency: REFERENCE_STABLE }
    return { status: 402, kind: 'payment-required', detail: error.message, price, headers: challenge() }
  }
  if (error instanceof PaymentRefusedError) return paymentRefusal(error)
  if (error instanceof PaymentInUseError) {
    const headers = { 'cache-control': 'no-store', 'retry-after': `${error.retryAfterSeconds}` }
    return { status: 409, kind: 'payment-in-use', detail: error.message, headers }
  }
  if (error instanceof MissingKeyError)
    return { status: 401, kind: 'missing-key', detail: error.message, headers: challenge() }
  if (error instanceof InvalidKeyError)
    return { status: 401, kind: 'invalid-key', detail: error.message, headers: challenge(', error="invalid_token"') }
  if (error instanceof ForbiddenError)
    return { status: 403, kind: 'forbidden', detail: error.message, headers: challenge(', error="insufficient_scope"') }
  if (error instanceof TooManyRequestsError) {
    const headers = { 'cache-control': 'no-store', 'retry-after': `${error.retryAfterSeconds}` }
    return { status: 429, kind: 'too-many-requests', detail: error.message, headers }
  }
  if (error instanceof TooManyStreamsError) {
    const headers = { 'cache-control': 'no-store', 'retry-after': `${RETRY_AFTER_SECONDS}` }
    return { status: 429, kind: 'too-many-streams', detail: error.message, headers }
  }
  return null
}

function webhookRefusal(error: unknown): Answer | null {
  if (error instanceof ConflictError) return { status: 409, kind: error.kind, detail: error.message }
  if (error instanceof ReusedKeyError) return { status: 422, kind: 'idempotency-key-reused', detail: error.message }
  if (error instanceof WebhooksNotConfiguredError)
    return { status: 503, kind: 'webhooks-not-configured', detail: error.message }
  return null
}

function answerTo(error: unknown): Answer {
  if (error instanceof InvalidRequestError)
    return { status: 400, kind: 'bad-parameter', detail: error.message, faults: error.faults }
  if (error instanceof BadParameterError) {
    const { parameter, message: detail } = error
    return { status: 400, kind: 'bad-parameter', detail: `${parameter} ${detail}`, faults: [{ parameter, detail }] }
  }
  if (error instanceof NotFoundError) {
    const { kind, parameter, message: detail } = error
    return { status: 404, kind, detail, ...(parameter && { faults: [{ parameter, detail }] }) }
  }
  const refused = refusalOf(error)
  if (refused) return refused
  const hooked = webhookRefusal(error)
  if (hooked) return hooked
  if (error instanceof MethodNotAllowedError)
    return { status: 405, kind: 'method-not-allowed', detail: error.message, headers: { allow: error.allow } }
  const { statusCode, code } = error as Partial<FastifyError>
  if (error instanceof UrlTooLongError || code === 'FST_ERR_MAX_PARAM_LENGTH')
    return { status: 414, kind: 'url-too-long', detail: 'no route has a URL of this length' }
  if (error instanceof PlumblineError && error.retryable) {
    const headers = { 'retry-after': `${RETRY_AFTER_SECONDS}` }
    if (error instanceof OverloadedError) return { status: 503, kind: 'overloaded', detail: error.message, headers }
    if (error instanceof DrainingError) return { status: 503, kind: 'ending', detail: error.message, headers }
    if (error instanceof PaymentsAwayError) return { status: 503, kind: 'unavailable', detail: error.message, headers }
    return { status: 503, kind: 'unavailable', detail: 'the data cannot be read at the moment; try again', headers }
  }
  if (code === 'FST_ERR_BAD_URL') return { status: 400, kind: 'bad-url', detail: 'the URL is not properly encoded' }
  // Fastify's own refusals, such as a malformed body, describe the request and nothing else.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { status: statusCode, kind: 'bad-request', detail: (error as Error).message }
  return { status: 500, kind: 'internal', detail: 'something went wrong here; the log has the details' }
}

/** The problem document of an error, without anything from the inside: ClickHouse's messages go to the log. */
function document({ status, kind, type, detail, faults, price }: Answer, instance: string | undefined): Problem {
  return {
    type: type ?? `urn:plumbline:problem:${kind}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    ...(instance !== undefined && { instance }),
    ...(faults?.[0] && { parameter: faults[0].parameter, errors: faults }),
    ...price,
  }
}

/** Fastify's error handler, and its handler for what fails before there is a route. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = answerTo(error)
  const isOurs = answer.status >= 500 && !(error instanceof DrainingError)
  if (isOurs && !request.raw.aborted) request.log.error({ err: error }, 'request failed')
  return reply
    .code(answer.status)
    .headers({ 'access-control-allow-origin': '*', 'x-request-id': request.id, ...answer.headers })
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(document(answer, request.url.split('?', 1)[0])))
}

/** A whole HTTP response for what is no HTTP request: Node's parser has refused it, so there is no reply to use. */
export function rawProblem(code: string | undefined): string {
  const isTooLarge = code === 'HPE_HEADER_OVERFLOW'
  const isSlow = code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const answer: Answer = isTooLarge
    ? { status: 431, kind: 'headers-too-large', detail: 'the URL and headers together are too large' }
    : isSlow
      ? { status: 408, kind: 'too-slow', detail: 'the request took too long to arrive' }
      : { status: 400, kind: 'bad-request', detail: 'this is not a valid HTTP request' }
  const body = JSON.stringify(document(answer, undefined))
  return [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'access-control-allow-origin: *',
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
