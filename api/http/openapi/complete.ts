import { STATUS_CODES } from 'node:http'
import { PROBLEM_TYPE } from '../problem.js'
import { type ApiDocument, type ApiOperation, type ApiResponse, operationsOf } from './document.js'
import type { RecordedAnswers } from './examples.js'

/** Every object in a document, at any depth. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  yield value as Record<string, unknown>
  for (const child of Object.values(value)) yield* objectsIn(child)
}

/**
 * Removes patterns that repeat a format, and bounds that every JSON number has. Writes several types of a value as variants,
 * which generators of clients know.
 */
function tidySchema(schema: Record<string, unknown>): void {
  if (schema.type === 'string' && schema.format !== undefined && schema.format !== 'binary') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (Array.isArray(schema.type) && schema.type.filter((type) => type !== 'null').length > 1) {
    schema.anyOf = schema.type.map((type) => ({ type }))
    delete schema.type
  }
}

/**
 * A required parameter has one example, with which a client can try the operation. Swagger UI fills a form with the first
 * example of a parameter, which is unwanted for optional ones.
 */
function tidyParameter(parameter: Record<string, unknown>): void {
  const {
    required,
    example,
    examples = {},
    schema,
  } = parameter as {
    required?: boolean
    example?: unknown
    examples?: Record<string, { value: unknown }>
    schema: { example?: unknown }
  }
  const all = [example ?? [], Object.values(examples).map(({ value }) => value), schema.example ?? []].flat()
  delete schema.example
  for (const name of ['example', 'examples']) delete parameter[name]
  if (required && all.length > 0) parameter.example = all[0]
  else if (all.length > 0) parameter.schema = { ...schema, examples: all }
}

/** Removes what the generators add to a document and no reader needs. */
export function tidy(document: ApiDocument): ApiDocument {
  for (const value of objectsIn(document.paths)) {
    if (typeof value.in === 'string' && 'schema' in value) tidyParameter(value)
    if (value.description === 'Default Response') value.description = 'OK'
  }
  for (const value of objectsIn([document.paths, document.components])) tidySchema(value)
  // The type provider defines each named schema twice, as input and as output.
  const { schemas } = document.components
  const isUnused = (name: string): boolean => !JSON.stringify(document).includes(`"#/components/schemas/${name}"`)
  for (
    let unused = Object.keys(schemas).filter(isUnused);
    unused.length > 0;
    unused = Object.keys(schemas).filter(isUnused)
  )
    for (const name of unused) delete schemas[name]
  return document
}

const DESCRIPTION = 'The answer still has the `ETag` that the request sent in `If-None-Match`; there is no body'

/** Adds a 304 to the operations of these names. */
export function withNotModified(document: ApiDocument, operationIds: ReadonlySet<string>): ApiDocument {
  const responses = { ...document.components.responses, NotModified: { description: DESCRIPTION } }
  document.components.responses = responses
  for (const { operation } of operationsOf(document))
    if (operationIds.has(operation.operationId))
      operation.responses['304'] = { $ref: '#/components/responses/NotModified' }
  return document
}

/** Problems that any route can answer and that are worth naming: an invalid key, and too many requests. */
const NAMED = { 401: 'InvalidKey', 429: 'TooManyRequests' } as const

/** The answer of a route with a price while another request uses the same payment. */
const IN_USE = { 409: 'PaymentInUse' } as const

/** Other problems that any route can answer, to unusual requests. */
const OTHERS = 'OtherProblem'

const reference = (name: string): ApiResponse => ({ $ref: `#/components/responses/${name}` })

/**
 * Adds the common problems to every operation, defined once, with the recorded answers as examples. A status that an
 * operation describes itself is kept.
 */
export function withCommonResponses(document: ApiDocument, problems: RecordedAnswers[string] = {}): ApiDocument {
  const schema = { $ref: '#/components/schemas/Problem' }
  const recorded = (statuses: string[]) =>
    Object.fromEntries(
      statuses.map((status) => [
        STATUS_CODES[status]?.toLowerCase().replaceAll(' ', '-') ?? status,
        { value: problems[status]?.[PROBLEM_TYPE] },
      ]),
    )
  const response = (description: string, statuses: string[]): ApiResponse => ({
    description,
    content: { [PROBLEM_TYPE]: { schema, examples: recorded(statuses.filter((status) => problems[status])) } },
  })
  const otherStatuses = Object.keys(problems).filter((status) => !(status in NAMED || status in IN_USE))
  document.components.responses = {
    ...Object.fromEntries(
      Object.entries({ ...NAMED, ...IN_USE }).map(([status, name]) => [
        name,
        response(STATUS_CODES[status] as string, [status]),
      ]),
    ),
    [OTHERS]: response('Any other problem', otherStatuses),
  }
  for (const { operation } of operationsOf(document)) {
    const named = '402' in operation.responses ? { ...NAMED, ...IN_USE } : NAMED
    for (const [status, name] of Object.entries(named)) operation.responses[status] ??= reference(name)
    operation.responses.default ??= reference(OTHERS)
  }
  return document
}

/** `required: false` marks those that not every such answer has. */
type Header = { name: string; description: string; schema: { type: 'string' | 'integer' }; required?: false }

const AS_OF: Header = {
  name: 'X-Service-As-Of',
  description: 'The requested point in time; not in live answers',
  schema: { type: 'string' },
}
const METHODOLOGY: Header = {
  name: 'X-Methodology-Version',
  description: 'Version of the formulas that the figures follow',
  schema: { type: 'string' },
}
const NEXT_CURSOR: Header = {
  name: 'X-Next-Cursor',
  description: 'The `cursor` of the next page, in every format; not at the end',
  schema: { type: 'string' },
}
const ETAG: Header = {
  name: 'ETag',
  description: 'Identifies this answer, for `If-None-Match`',
  schema: { type: 'string' },
}
const RETRY_AFTER: Header = {
  name: 'Retry-After',
  description: 'Seconds after which to try again',
  schema: { type: 'integer' },
}

const WWW_AUTHENTICATE: Header = {
  name: 'WWW-Authenticate',
  description:
    'What would open the route: `Bearer` for a key, and where it has a price and payments are taken also a challenge `Payment` for each stable that it can be paid with, preferred first',
  schema: { type: 'string' },
}
const PAYMENT_RECEIPT: Header = {
  name: 'Payment-Receipt',
  description:
    'Only of a paid answer: the receipt of the payment, as base64url of JSON. `reference` is the transaction, `currency` the stable',
  schema: { type: 'string' },
  required: false,
}
const RATE_LIMIT: Header = {
  name: 'RateLimit',
  description:
    'Requests that the caller has left (r), and the seconds until all are back (t); not if nothing limits them',
  schema: { type: 'string' },
  required: false,
}
const RATE_LIMIT_POLICY: Header = {
  name: 'RateLimit-Policy',
  description: 'The limit of the caller: requests (q) in a window of seconds (w)',
  schema: { type: 'string' },
  required: false,
}
const LIMITS = [RATE_LIMIT, RATE_LIMIT_POLICY]

const hasParameter = ({ parameters = [] }: ApiOperation, name: string): boolean =>
  parameters.some((parameter) => parameter.name === name)

/** The header fields that an answer of an operation has, besides those of HTTP itself. */
function headersOf(path: string, operation: ApiOperation, status: string): Header[] {
  if (status === '503') return [RETRY_AFTER]
  if (status === '401' || status === '402') return [WWW_AUTHENTICATE]
  if (status !== '200' || !path.startsWith('/api/v1/')) return []
  return [
    METHODOLOGY,
    ...LIMITS,
    ...('402' in operation.responses ? [PAYMENT_RECEIPT] : []),
    ...('304' in operation.responses ? [ETAG] : []),
    ...(hasParameter(operation, 'as_of') ? [AS_OF] : []),
    ...(hasParameter(operation, 'format') ? [NEXT_CURSOR] : []),
  ]
}

const referencesTo = (headers: Header[]) =>
  Object.fromEntries(headers.map(({ name }) => [name, { $ref: `#/components/headers/${name}` }]))

/** Adds the header fields to every answer, each defined once, with the recorded `examples` by their names. */
export function withHeaders(document: ApiDocument, examples: Record<string, unknown>): ApiDocument {
  document.components.headers = Object.fromEntries(
    [AS_OF, METHODOLOGY, ETAG, NEXT_CURSOR, RETRY_AFTER, WWW_AUTHENTICATE, PAYMENT_RECEIPT, ...LIMITS].map(
      ({ name, ...header }) => [name, { ...header, ...(examples[name] !== undefined && { example: examples[name] }) }],
    ),
  )
  const common = {
    InvalidKey: [WWW_AUTHENTICATE],
    PaymentInUse: [RETRY_AFTER],
    TooManyRequests: [RETRY_AFTER, ...LIMITS],
    NotModified: [ETAG],
  }
  for (const [name, headers] of Object.entries(common)) {
    const response = document.components.responses?.[name]
    if (response && !('$ref' in response)) response.headers = referencesTo(headers)
  }
  for (const { path, operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const headers = headersOf(path, operation, status)
      if ('$ref' in response || headers.length === 0) continue
      response.headers = referencesTo(headers)
    }
  }
  return document
}
