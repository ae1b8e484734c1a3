import { UnexpectedAnswerError } from './errors.js'
import { OPERATIONS, type OperationParams, type Operations } from './operations.js'
import { paged } from './pages.js'
import { type ClientOptions, createSender, type RequestOptions } from './send.js'
import { type StreamMessage, type StreamOptions, streamMessages } from './stream.js'
import type { StreamEventsParams } from './types.js'

export type Client = Operations & {
  /**
   * Peg samples, peg breaks, flow anomalies and the health of the service, as they come. The stream begins with a message
   * `ready`; from then on, each event comes once, however often the connection is lost.
   */
  streamEvents: (params?: StreamEventsParams, options?: StreamOptions) => AsyncGenerator<StreamMessage, never>
  /** The response itself, for the formats besides JSON (`csv`, `parquet` and so on). Retries and errors are the same. */
  raw: <Name extends keyof OperationParams>(
    name: Name,
    params: OperationParams[Name],
    options?: RequestOptions,
  ) => Promise<Response>
}

type Params = Readonly<Record<string, unknown>>

/** The URL of a request. Throws a TypeError if a parameter of the path is missing, or would lead to another path. */
function urlOf(baseUrl: string, template: string, params: object): string {
  const left = new Map<string, unknown>(Object.entries(params))
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(left.get(name) ?? '')
    left.delete(name)
    if (/^\.*$/.test(value)) throw new TypeError(`${name} must be given, and not be ${JSON.stringify(value)}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of left) if (value !== undefined && value !== null) query.set(name, String(value))
  const search = query.toString()
  return `${baseUrl.replace(/\/+$/, '')}${path}${search && `?${search}`}`
}

/** The body of an answer. Throws if it is not JSON. */
async function jsonOf(url: string, response: Response): Promise<object> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UnexpectedAnswerError('the answer is not JSON', { url, cause })
  }
}

/** A client of the service at `baseUrl`. It keeps no connection and no state of its own. */
export function createClient(options: ClientOptions): Client {
  const send = createSender(options)

  async function ask(path: string, params: Params, requestOptions: RequestOptions): Promise<object> {
    const url = urlOf(options.baseUrl, path, params)
    return send(url, (response) => jsonOf(url, response), requestOptions)
  }

  const call =
    ({ path, rows }: { path: string; rows?: string }) =>
    (params: Params = {}, requestOptions: RequestOptions = {}) => {
      const request = (asked: Params) => ask(path, asked, requestOptions)
      return rows === undefined ? request(params) : paged(request, { url: path, first: params, rows })
    }
  const operations = Object.entries(OPERATIONS).map(([name, operation]) => [name, call(operation)])

  return {
    ...(Object.fromEntries(operations) as Operations),
    streamEvents: (params = {}, streamOptions = {}) =>
      streamMessages(send, urlOf(options.baseUrl, '/api/v1/stream', params), streamOptions),
    raw: async (name, params, requestOptions = {}) =>
      send(urlOf(options.baseUrl, OPERATIONS[name].path, params), (response) => response, {
        ...requestOptions,
        accept: '*/*',
        staysOpen: true,
      }),
  }
}

export * from './errors.js'
export type { Paged } from './pages.js'
export type { ClientOptions, PaidRequest, Pay, RequestOptions } from './send.js'
export type { StreamMessage, StreamOptions } from './stream.js'
export type * from './types.js'
