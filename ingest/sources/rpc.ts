import { AsyncLocalStorage } from 'node:async_hooks'
import { setMaxListeners } from 'node:events'
import pRetry from 'p-retry'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { CallOutcome } from '../../clickhouse/chain/node-calls.js'
import { PlumblineError } from '../../process/errors.js'
import { NETWORKS } from '../chain/networks.js'
import { BlockMissingError, RpcAnswerError } from '../chain/rpc-answers.js'
import type { IngestConfig } from '../config.js'
import { jsonRpcAt } from './json-rpc.js'
import { type Node, type NodePool, nodePool, type Send } from './node-pool.js'
import { createPace } from './pace.js'
import { isAnswered, isRateLimited, isTimeout, reasonOf } from './refusals.js'
import { isStateUnavailable } from './state-unavailable.js'

/** Every attempt failed: the node did not answer, answered too late, or refused. */
class RpcError extends PlumblineError {
  constructor(what: string, reason: string, cause: unknown) {
    super(`${what}: ${reason}`, { retryable: true, cause })
  }
}

export type Rpc = {
  /**
   * One JSON-RPC call, whose answer is checked against `shape`. Concurrent calls travel as one batch, large ones and
   * those for logs alone. A call that a node refuses because it was asked too often is sent again when the node bears it,
   * for as long as that takes, or `patience` times; what else fails is not retried.
   */
  request: <Shape extends z.ZodType>(
    method: string,
    params: unknown[],
    shape: Shape,
    patience?: number,
  ) => Promise<z.output<Shape>>
  /** Runs `read` until it succeeds, with growing pauses; rejects with RpcError after about a minute of failures. */
  persist: <Result>(what: string, read: () => Promise<Result>) => Promise<Result>
  /** Whether the newest block is read, before it is final: true on a chain without finality. */
  followsNewest: boolean
}

/** Called with each call that has ended, and with each failed attempt of a read. Must not throw. */
export type RpcObserver = {
  called: (method: string, outcome: CallOutcome, seconds: number) => void
  retried: () => void
}

/** Whether a call is for the logs of more than one block. */
function isForManyBlocks(method: string, [filter]: readonly unknown[]): boolean {
  if (method !== 'eth_getLogs') return false
  const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
  return fromBlock !== toBlock
}

/** What a call that was not answered failed of. */
function outcomeOf(error: unknown, method: string, params: readonly unknown[]): CallOutcome {
  if (isRateLimited(error)) return 'limited'
  if (isStateUnavailable(error)) return 'no_state'
  if (isTimeout(error)) return 'late'
  // Nodes say in many ways that a range is too wide, and refuse hardly any for another reason.
  return isForManyBlocks(method, params) && isAnswered(error) ? 'too_large' : 'failed'
}

// Nodes limit the size of a request (anvil to 2 MB), and so do servers before them (nginx to 1 MiB).
const MOST_REQUEST = 1_000_000
// A batch has one answer, after its last call. What takes as long as some seventy reads of a block's state is sent alone.
const LARGE_CALL = 40_000
/**
 * The length of an eth_call's data. No other parameter is long, and encoding the whole call to measure it takes time.
 */
const sizeOf = ([first]: readonly unknown[]): number => (first as { data?: string } | undefined)?.data?.length ?? 0
const SINGLE_CALLS = 8
// A node answers the calls of a batch one after the other, and the batch with the last: logs may take seconds.
const LOGS_AT_ONCE = 64
// More would only wait at the node, time out there and be sent again.
const BATCHES_AT_ONCE = 8
// Enough for the logs of a range of busy blocks; with a limit that they exceed, every retry would fail.
const MAX_ANSWER_BYTES = 2 ** 28

/** How often it is logged that a node limits the rate, in milliseconds. */
const WARN_MS = 10_000

export type RpcOptions = {
  /** One node, or several of one chain. */
  urls: readonly string[]
  /** How far behind the newest block several nodes must agree; 0 if the chain has finality. */
  finalityDepth: number
  batchSize: number
  timeoutMs: number
  attempts: number
  log: Logger
  signal: AbortSignal
  observer?: RpcObserver | undefined
}

/** The client for the nodes that the configuration names. */
export const rpcOf = (config: IngestConfig, log: Logger, signal: AbortSignal, observer?: RpcObserver): Rpc =>
  rpcAt({
    urls: config.RPC_URL.split(','),
    finalityDepth: NETWORKS[config.CHAIN].deepestReorg,
    batchSize: config.RPC_BATCH_SIZE,
    timeoutMs: config.RPC_TIMEOUT_MS,
    attempts: config.RPC_ATTEMPTS,
    log,
    signal,
    observer,
  })

/** The nodes that have answered calls of the read that is running. */
const answering = new AsyncLocalStorage<Set<Node>>()

function nodeAt(url: string, { batchSize, timeoutMs, signal }: RpcOptions): Node {
  const { single, batched } = jsonRpcAt(url, {
    ...{ batchSize, batchLength: MOST_REQUEST, batchesAtOnce: BATCHES_AT_ONCE, timeoutMs },
    mostAnswerBytes: MAX_ANSWER_BYTES,
  })
  const inTurn = createPace(SINGLE_CALLS, signal)
  const logsInTurn = createPace(LOGS_AT_ONCE, signal)
  // Where a node bears fewer calls than a batch has, batches become as small.
  const inBatches = createPace(BATCHES_AT_ONCE * batchSize, signal)
  const send: Send = (method, params) => {
    const call = { method, params }
    if (method === 'eth_getLogs') return logsInTurn(() => single(call))
    return sizeOf(params) < LARGE_CALL ? inBatches(() => batched(call)) : inTurn(() => single(call))
  }
  return { name: new URL(url).host, send }
}

/** A single node as a pool. */
const poolOf = (node: Node, noteAnswer: (node: Node) => void): NodePool => ({
  send: async (method, params) => {
    const answer = await node.send(method, params)
    noteAnswer(node)
    return answer
  },
  distrust: () => {},
})

/** A client for one JSON-RPC node, or for several as one. Sends nothing before the first request. */
export function rpcAt(options: RpcOptions): Rpc {
  const { urls, finalityDepth, log, signal, observer } = options
  const nodes = urls.map((url) => nodeAt(url, options))
  const [only] = nodes
  const noteAnswer = (node: Node): void => void answering.getStore()?.add(node)
  const pool =
    nodes.length === 1 && only ? poolOf(only, noteAnswer) : nodePool(nodes, { finalityDepth, noteAnswer, log })
  // Every read that persists listens to it; Node warns of a leak above ten.
  setMaxListeners(0, signal)

  async function sendOnce(method: string, params: unknown[]): Promise<unknown> {
    const startedAt = performance.now()
    const report = (outcome: CallOutcome): void =>
      observer?.called(method, outcome, (performance.now() - startedAt) / 1000)
    try {
      const answer = await pool.send(method, params)
      report('ok')
      return answer
    } catch (error) {
      report(outcomeOf(error, method, params))
      throw error
    }
  }

  let warnedAt = Number.NEGATIVE_INFINITY
  const noteLimit = (error: Error): void => {
    observer?.retried()
    const now = performance.now()
    if (now - warnedAt < WARN_MS) return
    warnedAt = now
    log.warn({ reason: reasonOf(error) }, 'the node limits the rate of calls: asking it more slowly')
  }

  async function sendUntilBorne(method: string, params: unknown[], patience: number): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await sendOnce(method, params)
      } catch (error) {
        if (!isRateLimited(error)) throw error
        noteLimit(error as Error)
        if (attempt >= patience) throw error
      }
    }
  }

  return {
    followsNewest: finalityDepth > 0,
    request: async (method, params, shape, patience = Number.POSITIVE_INFINITY) => {
      const answer = await sendUntilBorne(method, params, patience)
      const parsed = shape.safeParse(answer)
      if (parsed.success) return parsed.data
      const issue = parsed.error.issues[0]
      throw new RpcAnswerError(`${method} returned an unexpected answer: ${issue?.path.join('.')} ${issue?.message}`)
    },
    persist: (what, read) => persist(what, read, pool.distrust, options),
  }
}

/** Whether nodes have given an answer that cannot be right; one that lacks a block may only lag. */
const isWrongAnswer = (error: unknown): boolean =>
  error instanceof RpcAnswerError && !(error instanceof BlockMissingError)

/** Runs `read` as `Rpc.persist` does; `distrust` is called with the nodes one of which has given it a wrong answer. */
async function persist<Result>(
  what: string,
  read: () => Promise<Result>,
  distrust: NodePool['distrust'],
  { attempts, log, signal, observer }: RpcOptions,
): Promise<Result> {
  const outer = answering.getStore()
  let answered = new Set<Node>()
  const reasonFor = (error: unknown): string => {
    const names = [...answered].map(({ name }) => name)
    return isWrongAnswer(error) && names.length > 0
      ? `${reasonOf(error)} (answered by ${names.join(', ')})`
      : reasonOf(error)
  }
  try {
    return await pRetry(
      () => {
        answered = new Set()
        return answering.run(answered, read)
      },
      {
        retries: attempts - 1,
        minTimeout: 200,
        maxTimeout: 10_000,
        randomize: true,
        signal,
        shouldRetry: ({ error }) => !(error instanceof PlumblineError) || error.retryable,
        onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => {
          if (retriesLeft > 0) observer?.retried()
          if (isWrongAnswer(error)) distrust(answered)
          log.warn({ attempt: attemptNumber, retriesLeft, reason: reasonFor(error) }, `${what} failed`)
        },
      },
    )
  } catch (cause) {
    if (signal.aborted || (cause instanceof PlumblineError && !cause.retryable)) throw cause
    throw new RpcError(`${what} failed ${attempts} times`, reasonFor(cause), cause)
  } finally {
    for (const node of answered) outer?.add(node)
  }
}
