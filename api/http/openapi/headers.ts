import { type ApiDocument, type ApiOperation, operationsOf } from './document.js'

type Header = { name: string; description: string; schema: { type: 'string' | 'integer' } }

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
  description: 'Of this very answer, for `If-None-Match`',
  schema: { type: 'string' },
}
const RETRY_AFTER: Header = {
  name: 'Retry-After',
  description: 'Seconds after which to try again',
  schema: { type: 'integer' },
}

const hasParameter = ({ parameters = [] }: ApiOperation, name: string): boolean =>
  parameters.some((parameter) => parameter.name === name)

/** The header fields that an answer of an operation has, besides those of HTTP itself. */
function headersOf(path: string, operation: ApiOperation, status: string): Header[] {
  if (status === '503') return [RETRY_AFTER]
  if (status !== '200' || !path.startsWith('/api/v1/')) return []
  return [
    METHODOLOGY,
    ...('304' in operation.responses ? [ETAG] : []),
    ...(hasParameter(operation, 'as_of') ? [AS_OF] : []),
    ...(hasParameter(operation, 'format') ? [NEXT_CURSOR] : []),
  ]
}

const referencesTo = (headers: Header[]) =>
  Object.fromEntries(headers.map(({ name }) => [name, { $ref: `#/components/headers/${name}` }]))

/** Says for every answer which header fields tell something, each defined once. */
export function withHeaders(document: ApiDocument): ApiDocument {
  document.components.headers = Object.fromEntries(
    [AS_OF, METHODOLOGY, ETAG, NEXT_CURSOR, RETRY_AFTER].map(({ name, ...header }) => [name, header]),
  )
  const common = { TooManyRequests: [RETRY_AFTER], NotModified: [ETAG] }
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
