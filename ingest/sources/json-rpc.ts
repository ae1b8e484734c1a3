import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Agent, errors, interceptors } from 'undici'
import { HttpRequestError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem'
import { RpcAnswerError } from '../chain/rpc-answers.js'

/** One JSON-RPC call without its id. */
type Call = { method: string; params: unknown[] }
type RpcFailure = { code: number; message: string; data?: unknown }
type Answer = { id?: unknown; result?: unknown; error?: RpcFailure }

type Waiting = {
  call: Call
  id: number
  encoded: string
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

export type JsonRpc = {
  /** Sends a call in a request of its own. */
  single: (call: Call) => Promise<unknown>
  /** Sends a call together with those that are made in the same millisecond. */
  batched: (call: Call) => Promise<unknown>
}

type Options = {
  /** Most calls of one request, and most characters of these together. */
  batchSize: number
  batchLength: number
  /** How long a node may take before it begins to answer, and then between two pieces of the answer, in milliseconds. */
  timeoutMs: number
  mostAnswerBytes: number
}

const MOST_REDIRECTS = 5
const unzip = promisify(gunzip)

/** A URL without the credentials that it may contain, and the header that carries them instead. */
function targetOf(text: string): { url: string; headers: Record<string, string> } {
  const url = new URL(text)
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  if (!url.username) return { url: url.toString(), headers }
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  return {
    url: url.toString(),
    headers: { ...headers, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
  }
}

const isFailure = (error: unknown): error is RpcFailure =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'

type Response = { statusCode: number; headers: Record<string, string | string[] | undefined> }

/** The JSON of a response; of one with another status than success, only if it is an error of JSON-RPC. */
function parsed(text: string, { statusCode, headers }: Response, url: string): unknown {
  const isOk = statusCode >= 200 && statusCode < 300
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    if (isOk) throw error
  }
  if (isOk || isFailure((json as Answer | undefined)?.error)) return json
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  throw new HttpRequestError({
    ...{ url, status: statusCode, headers: new Headers(fields) },
    details: text.slice(0, 1000) || `status ${statusCode}`,
  })
}

/** Posts a body to a node once, and returns the JSON of its answer. Rejects with the errors of viem's transport. */
function postTo(nodeUrl: string, { timeoutMs, mostAnswerBytes }: Options): (body: string) => Promise<unknown> {
  const { url, headers } = targetOf(nodeUrl)
  const { origin, pathname, search } = new URL(url)
  const target = { origin, path: `${pathname}${search}`, method: 'POST', headers } as const
  const node = new Agent({ headersTimeout: 0, bodyTimeout: timeoutMs, maxResponseSize: mostAnswerBytes }).compose(
    interceptors.redirect({ maxRedirections: MOST_REDIRECTS }),
  )

  return async (body) => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    try {
      const response = await node.request({ ...target, body, signal: late.signal })
      clearTimeout(timer)
      const bytes = Buffer.from(await response.body.arrayBuffer())
      const isZipped = response.headers['content-encoding'] === 'gzip'
      const text = (isZipped ? await unzip(bytes, { maxOutputLength: mostAnswerBytes }) : bytes).toString()
      return parsed(text, response, url)
    } catch (error) {
      if (error instanceof HttpRequestError) throw error
      if (late.signal.aborted || error instanceof errors.BodyTimeoutError) throw new TimeoutError({ body: {}, url })
      if (error instanceof errors.ResponseExceededMaxSizeError)
        throw new ResponseBodyTooLargeError({ maxSize: mostAnswerBytes, size: mostAnswerBytes + 1 })
      throw new HttpRequestError({ cause: error as Error, url })
    } finally {
      clearTimeout(timer)
    }
  }
}

/** The result of a call; throws the error that the node answered. */
const resultOf = (answer: Answer | undefined, call: Call, url: string): unknown => {
  if (!answer) throw new RpcAnswerError(`${call.method}: the batch has no answer to it`)
  if (answer.error) throw new RpcRequestError({ body: { method: call.method }, error: answer.error, url })
  return answer.result
}

const encode = ({ method, params }: Call, id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`

/**
 * A JSON-RPC node over HTTP. Tries each request once, and rejects with the errors of viem's transport: HttpRequestError,
 * TimeoutError, ResponseBodyTooLargeError and RpcRequestError. It takes a third of that transport's CPU time, which builds
 * an error for every request, reads bodies through web streams and encodes them with a replacer.
 */
export function jsonRpcAt(nodeUrl: string, options: Options): JsonRpc {
  const { batchSize, batchLength } = options
  const { url } = targetOf(nodeUrl)
  const post = postTo(nodeUrl, options)

  async function sendBatch(waiting: readonly Waiting[]): Promise<void> {
    let byId: Map<unknown, Answer>
    let toAll: Answer | undefined
    try {
      const answers = await post(`[${waiting.map(({ encoded }) => encoded).join()}]`)
      byId = new Map(Array.isArray(answers) ? answers.map((answer: Answer) => [answer?.id, answer]) : [])
      // A node that refuses the batch as a whole answers with one error.
      if (!Array.isArray(answers) && isFailure((answers as Answer | null)?.error)) toAll = answers as Answer
    } catch (error) {
      for (const { reject } of waiting) reject(error)
      return
    }
    for (const { call, id, resolve, reject } of waiting) {
      try {
        resolve(resultOf(byId.get(id) ?? toAll, call, url))
      } catch (error) {
        reject(error)
      }
    }
  }

  let waiting: Waiting[] = []
  let length = 0
  let nextId = 0
  const sendWaiting = (): void => {
    const batch = waiting
    waiting = []
    length = 0
    if (batch.length > 0) void sendBatch(batch)
  }
  return {
    single: async (call) => resultOf((await post(encode(call, 0))) as Answer, call, url),
    batched: (call) =>
      new Promise((resolve, reject) => {
        const id = nextId++
        const encoded = encode(call, id)
        if (length + encoded.length > batchLength) sendWaiting()
        if (waiting.length === 0) setTimeout(sendWaiting)
        waiting.push({ call, id, encoded, resolve, reject })
        length += encoded.length
        if (waiting.length === batchSize) sendWaiting()
      }),
  }
}
