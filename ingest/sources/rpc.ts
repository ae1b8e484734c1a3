import pLimit from 'p-limit'
import pRetry from 'p-retry'
import type { Logger } from 'pino'
import { type EIP1193RequestFn, http } from 'viem'
import type { z } from 'zod'
import { PlumblineError } from '../../domain/errors.js'
import { RpcAnswerError } from './answers.js'

/** The node did not answer, or not in time, or refused, in every one of the attempts. */
class RpcError extends PlumblineError {
  constructor(what: string, cause: unknown) {
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { retryable: true, cause })
  }
}

export type Rpc = {
  /** One JSON-RPC call, checked against `shape`. Calls made together travel as one batch, large ones alone. Tries once. */
  request: <Shape extends z.ZodType>(method: string, params: unknown[], shape: Shape) => Promise<z.output<Shape>>
  /** Runs `read` until it succeeds, with growing pauses; rejects with RpcError after about a minute of failures. */
  persist: <Result>(what: string, read: () => Promise<Result>) => Promise<Result>
}

// A node limits the size of a request (anvil to 2 MB): fifty of these still fit, and larger ones go one by one.
const LARGE_CALL = 20_000
const SINGLE_CALLS = 8
// The logs of a range of busy blocks; viem refuses more than 10 MB by itself, every time they are asked for.
const MAX_ANSWER_BYTES = 2 ** 28

export type RpcOptions = {
  url: string
  batchSize: number
  timeoutMs: number
  attempts: number
  log: Logger
  signal: AbortSignal
}

/** The JSON-RPC node at `url`. Nothing is asked before the first request. */
export function rpcAt({ url, batchSize, timeoutMs, attempts, log, signal }: RpcOptions): Rpc {
  const options = { retryCount: 0, timeout: timeoutMs, maxResponseBodySize: MAX_ANSWER_BYTES }
  const batched = http(url, { ...options, batch: { batchSize, wait: 0 } })({}).request as EIP1193RequestFn
  const single = http(url, options)({}).request as EIP1193RequestFn
  const inTurn = pLimit(SINGLE_CALLS)
  const send = (method: string, params: unknown[]): Promise<unknown> => {
    const call = { method, params } as never
    return JSON.stringify(params).length < LARGE_CALL ? batched(call) : inTurn(() => single(call))
  }
  return {
    request: async (method, params, shape) => {
      const answer = await send(method, params)
      const parsed = shape.safeParse(answer)
      if (parsed.success) return parsed.data
      const issue = parsed.error.issues[0]
      throw new RpcAnswerError(`${method} answered with something else: ${issue?.path.join('.')} ${issue?.message}`)
    },
    persist: async (what, read) => {
      try {
        return await pRetry(read, {
          retries: attempts - 1,
          minTimeout: 200,
          maxTimeout: 10_000,
          randomize: true,
          signal,
          shouldRetry: ({ error }) => !(error instanceof PlumblineError) || error.retryable,
          onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => {
            log.warn({ attempt: attemptNumber, retriesLeft, reason: error.message.split('\n')[0] }, `${what} failed`)
          },
        })
      } catch (cause) {
        if (signal.aborted || (cause instanceof PlumblineError && !cause.retryable)) throw cause
        throw new RpcError(`${what} failed ${attempts} times`, cause)
      }
    },
  }
}
