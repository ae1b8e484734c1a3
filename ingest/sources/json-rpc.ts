import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import pLimit from 'p-limit'
import { Agent, errors, interceptors } from 'undici'
import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem'
import { RpcAnswerError } from '../chain/rpc-answers.js'
import { partsOf } from './parts.js'
import { isAnswered, isRateLimited, isTimeout } from './refusals.js'
import { createRequestSize } from './request-size.js'

/** One JSON-RPC call without its id. */
type Call = { method: string; params: unknown[] }
type RpcFailure = { code: number; message: string; data?: unknown }
type Answer = { id?: unknown; result?: unknown; error?: RpcFailure | null }

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
  /** Most calls of one request, unless the node takes fewer, and most characters of these together. */
  batchSize: number
  batchLength: number
  /** Most requests with batches at once. */
  batchesAtOnce: number
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

/** Whether a value is the answer to a call. */
const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' &&
  value !== null &&
  (('id' in value && 'result' in value) || isFailure((value as Answer).error))

type Response = { statusCode: number; headers: Record<string, string | string[] | undefined> }

/** The JSON of a response; of one with another status than success, only if it is an answer of JSON-RPC all the same. */
function parsed(text: string, { statusCode, headers }: Response, url: string): unknown {
  const isOk = statusCode >= 200 && statusCode < 300
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    if (isOk) throw error
  }
  const failure = (json as Answer | null | undefined)?.error
  // Of a rate limit, the status and the headers say more than the error.
  const limitsRate = isFailure(failure) && (statusCode === 429 || headers['retry-after'] !== undefined)
  if (isOk || (!limitsRate && json !== undefined && [json].flat().every(isAnswer))) return json
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  throw new HttpRequestError({
    ...{ url, status: statusCode, headers: new Headers(fields) },
    details: (isFailure(failure) ? failure.message : text.slice(0, 1000)) || `status ${statusCode}`,
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
      // Where a host has several addresses, the failure to connect has only a code.
      const { message, code } = error as Error & { code?: string }
      throw new HttpRequestError({ cause: error as Error, details: message || code || 'no connection', url })
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

const isSame = (a: unknown, b: unknown): boolean =>
  a instanceof BaseError && b instanceof BaseError && a.details === b.details

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

  const inTurn = pLimit(options.batchesAtOnce)
  /** How many calls at once the node answers. */
  const size = createRequestSize({ first: batchSize, most: batchSize, mostResults: batchSize })

  const single = async (call: Call): Promise<unknown> => {
    // Some nodes put the only answer into a list.
    const [answer] = [await post(encode(call, 0))].flat()
    return resultOf((answer ?? undefined) as Answer | undefined, call, url)
  }

  /**
   * Sends calls in one request. Resolves to how many the node answers in it, and to the calls that are not answered; rejects if
   * it refuses them all at once.
   */
  async function sendTogether(calls: readonly Waiting[]): Promise<{ together: number; unanswered: Waiting[] }> {
    const [only] = calls as [Waiting]
    if (calls.length === 1) {
      only.resolve(await single(only.call))
      return { together: 1, unanswered: [] }
    }
    const answers = [await post(`[${calls.map(({ encoded }) => encoded).join()}]`)].flat().filter(isAnswer)
    const byId = new Map(answers.map((answer) => [String(answer.id), answer]))
    const [answered, unanswered] = [[], []] as [Waiting[], Waiting[]]
    for (const waiting of calls) (byId.has(String(waiting.id)) ? answered : unanswered).push(waiting)
    // A node that refuses the batch as a whole answers with one error.
    if (answered.length === 0)
      resultOf(
        answers.find(({ error }) => isFailure(error)),
        only.call,
        url,
      )
    const refused = new Map<number, Array<Waiting & { error: unknown }>>()
    for (const waiting of answered) {
      const answer = byId.get(String(waiting.id))
      try {
        waiting.resolve(resultOf(answer, waiting.call, url))
      } catch (error) {
        const code = answer?.error?.code ?? 0
        if (isRateLimited(error)) waiting.reject(error)
        else refused.set(code, [...(refused.get(code) ?? []), { ...waiting, error }])
      }
    }
    // Some nodes refuse a batch call by call. Only alone does a call show whether it is meant, and those that were refused alike.
    let together = answered.length
    for (const [first, ...others] of refused.values()) {
      if (!first) continue
      const alone = await single(first.call).then(
        (result) => first.resolve(result),
        (error: unknown) => {
          first.reject(error)
          return isAnswered(error) && !isRateLimited(error) ? 'refused' : undefined
        },
      )
      if (alone === 'refused') for (const { reject, error } of others) reject(error)
      else {
        together -= others.length + 1
        unanswered.push(...others)
      }
    }
    return { together, unanswered }
  }

  /**
   * Sends a batch, and what the node fails to answer again in smaller ones: nodes that take fewer calls say so in many ways.
   * As many as it then answers are sent from then on; where it answers not even one, nothing is learned.
   */
  async function sendBatch(batch: readonly Waiting[]): Promise<void> {
    let left = batch
    let most = batch.length
    let failure: unknown
    while (left.length > 0) {
      const part = left.slice(0, most)
      const rest = left.slice(most)
      const began = performance.now()
      try {
        const { together, unanswered } = await inTurn(() => sendTogether(part))
        left = [...unanswered, ...rest]
        if (together < part.length) {
          failure = new RpcAnswerError('the batch lacks answers')
          most = together || Math.floor(part.length / 2)
          if (left.length === 0) size.failed(batch.length, 0, most)
          continue
        }
        if (failure !== undefined) size.failed(batch.length, 0, most)
        size.answered(part.length, 0, 0, performance.now() - began)
        return void (await Promise.all(partsOf(left, most).map(sendBatch)))
      } catch (error) {
        if (isTimeout(error)) size.failed(part.length, 0, null)
        else if (part.length > 1 && !isRateLimited(error)) {
          failure = error
          most = Math.floor(part.length / 2)
          continue
        }
        // What the node says of a single call is not about the others, unless it has said the same of all.
        const isOfCall = part.length === 1 && isAnswered(error) && !isSame(error, failure)
        left = isOfCall ? rest : []
        for (const { reject } of isOfCall ? part : [...part, ...rest]) reject(error)
      }
    }
  }

  let waiting: Waiting[] = []
  let length = 0
  let most = batchSize
  let nextId = 0
  const sendWaiting = (): void => {
    const batch = waiting
    waiting = []
    length = 0
    if (batch.length > 0) void sendBatch(batch)
  }
  return {
    single,
    batched: (call) =>
      new Promise((resolve, reject) => {
        const id = nextId++
        const encoded = encode(call, id)
        if (length + encoded.length > batchLength) sendWaiting()
        if (waiting.length === 0) {
          most = size.next()
          setTimeout(sendWaiting)
        }
        waiting.push({ call, id, encoded, resolve, reject })
        length += encoded.length
        if (waiting.length === most) sendWaiting()
      }),
  }
}
