import type { Logger } from 'pino'
import { BaseError, numberToHex, RpcRequestError } from 'viem'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { Quantity, RawHeader, RpcAnswerError } from '../chain/rpc-answers.js'
import { isRateLimited, reasonOf, retryAfterMs } from './refusals.js'

/** Sends one JSON-RPC call, once. */
export type Send = (method: string, params: unknown[]) => Promise<unknown>

/** One of the nodes in RPC_URL. `name` is safe to log: a URL may contain a key. */
export type Node = { name: string; send: Send }

export type NodePool = {
  send: Send
  /** Of nodes that have answered the calls of a read, one has given a wrong answer: it is asked after the others. */
  distrust: (answered: ReadonlySet<Node>) => void
}

/** Two nodes have different histories, and only a person can decide which is right. */
class NodesDisagreeError extends PlumblineError {
  constructor(what: string, answers: ReadonlyArray<{ name: string; answer: string }>) {
    const listed = answers.map(({ name, answer }) => `${answer} at ${name}`).join(', ')
    super(`the nodes of RPC_URL disagree about ${what}: ${listed}`, { retryable: false })
  }
}

type Health = {
  node: Node
  /** Average latency in milliseconds and average share of failures; the newest call counts for a fifth. */
  latency: number
  failures: number
  consecutiveFailures: number
  restsUntil: number
  /** The newest block that it is known to have. */
  head: number | null
  identity: string | null
}

const WEIGHT = 0.2
const FIRST_REST_MS = 1000
const LONGEST_REST_MS = 30_000
const Genesis = RawHeader.pick({ hash: true })
const HeadTag = z.enum(['latest', 'finalized'])
type HeadTag = z.infer<typeof HeadTag>

/** The newest block that a call needs; null if the call does not name one. */
function neededBlock(method: string, params: readonly unknown[]): number | null {
  const [first] = params
  const block = method === 'eth_getLogs' ? (first as { toBlock?: unknown }).toBlock : first
  const parsed = method === 'eth_getLogs' || method === 'eth_getBlockByNumber' ? Quantity.safeParse(block) : null
  return parsed?.success ? parsed.data : null
}

/**
 * Several nodes as one. A call goes to the fastest and most reliable node that has the requested blocks; if it fails,
 * or returns null, the next one is asked. The head is requested from all nodes, and the newest is returned. Rejects
 * with NodesDisagreeError if a node is on another chain, or has another hash for a final block: the block
 * `finalityDepth` behind `latest`, or, if that is 0, the `finalized` one.
 */
export function nodePool(nodes: readonly Node[], options: Options): NodePool {
  const pool = new HealthPool(nodes, options)
  return {
    send: (method, params) =>
      method === 'eth_getBlockByNumber' && HeadTag.safeParse(params[0]).success
        ? pool.newestHead(params[0] as HeadTag)
        : pool.send(method, params),
    distrust: (answered) => pool.distrust(answered),
  }
}

type Options = {
  finalityDepth: number
  /** Called with the node that has answered a call for other than the head. */
  noteAnswer: (node: Node) => void
  log: Logger
}

class HealthPool {
  readonly #pool: readonly Health[]
  readonly #finalityDepth: number
  readonly #noteAnswer: Options['noteAnswer']
  readonly #log: Logger
  /** The newest block about which the nodes were found to agree. */
  #agreedBlock = -1

  constructor(nodes: readonly Node[], { finalityDepth, noteAnswer, log }: Options) {
    this.#pool = nodes.map((node) => ({
      ...{
        node,
        latency: 0,
        failures: 0,
        consecutiveFailures: 0,
        restsUntil: 0,
        head: null,
        identity: null,
      },
    }))
    this.#finalityDepth = finalityDepth
    this.#noteAnswer = noteAnswer
    this.#log = log
  }

  /** The answer of the best node that gives one; null if those that answer have none. */
  async send(method: string, params: unknown[]): Promise<unknown> {
    // All nodes are checked at once, so that a wrong one is found before anything is written.
    if (this.#pool.every(({ identity }) => identity === null))
      await answersOf(this.#pool, (health) => this.#identify(health))
    let failure: unknown
    let hasNullAnswer = false
    for (const health of this.#nodesFor(method, params)) {
      try {
        await this.#identify(health)
        const answer = await this.#ask(health, method, params)
        if (answer === null) {
          hasNullAnswer = true
          continue
        }
        this.#noteAnswer(health.node)
        return answer
      } catch (error) {
        if (error instanceof NodesDisagreeError) throw error
        failure = error
      }
    }
    if (hasNullAnswer) return null
    throw failure
  }

  /** The newest of the nodes' heads. Rejects with NodesDisagreeError if they disagree about the final block. */
  async newestHead(tag: HeadTag): Promise<unknown> {
    const readHead = async (health: Health) => {
      await this.#identify(health)
      const head = await this.#header(health, tag)
      health.head = Math.max(health.head ?? 0, head.number)
      return head
    }
    // A node that failed is polled in the background, and waited for only once it answers again.
    const healthy = this.#pool.filter(({ consecutiveFailures }) => consecutiveFailures === 0)
    for (const health of this.#pool) {
      if (healthy.length > 0 && health.consecutiveFailures > 0 && health.restsUntil <= Date.now())
        readHead(health).catch(() => {})
    }
    const heads = await answersOf(healthy.length > 0 ? healthy : this.#pool, readHead)
    const numbers = heads.map(({ answer }) => answer.number)
    const isFinal = tag === 'finalized' || this.#finalityDepth > 0
    const final = Math.min(...numbers) - (tag === 'finalized' ? 0 : this.#finalityDepth)
    if (isFinal && final > this.#agreedBlock && heads.length > 1) {
      await this.#checkAgreement(
        heads.map(({ health }) => health),
        final,
      )
    }
    return heads.find(({ answer }) => answer.number === Math.max(...numbers))?.answer.raw
  }

  distrust(answered: ReadonlySet<Node>): void {
    const asked = this.#pool.filter(({ node }) => answered.has(node)).sort((a, b) => cost(a) - cost(b))
    const [best] = asked
    // Of reads that were under way together, one counts. Its rest outlasts the read that is tried again.
    if (!best || asked.some(({ restsUntil }) => restsUntil > Date.now())) return
    rest(best, LONGEST_REST_MS)
    this.#log.warn({ node: best.node.name }, 'a node gave a wrong answer: asking the others')
  }

  /** The nodes that may have the blocks of a call, the best first; all of them if none may. */
  #nodesFor(method: string, params: readonly unknown[]): Health[] {
    const needed = neededBlock(method, params)
    const able = this.#pool.filter(({ head }) => needed === null || head === null || head >= needed)
    return [...(able.length > 0 ? able : this.#pool)].sort((a, b) => cost(a) - cost(b))
  }

  async #ask(health: Health, method: string, params: unknown[]): Promise<unknown> {
    const began = Date.now()
    try {
      const answer = await health.node.send(method, params)
      health.latency += WEIGHT * (Date.now() - began - health.latency)
      health.failures *= 1 - WEIGHT
      health.consecutiveFailures = 0
      return answer
    } catch (error) {
      // A refusal is an answer: it is about the call, not about the node.
      const now = Date.now()
      const isRefusal = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null
      const isAnswer = isRefusal && !isRateLimited(error)
      if (!isAnswer && now >= health.restsUntil) {
        const restMs = Math.min(FIRST_REST_MS * 2 ** health.consecutiveFailures++, LONGEST_REST_MS)
        rest(health, Math.max(restMs, retryAfterMs(error, now)))
        this.#log.warn({ node: health.node.name, reason: reasonOf(error) }, 'a node failed: asking the others')
      }
      throw error
    }
  }

  async #header(health: Health, block: string) {
    const raw = await this.#ask(health, 'eth_getBlockByNumber', [block, false])
    return { raw, ...this.#parsed(health, RawHeader, raw) }
  }

  /** An answer of a node in its shape. Throws RpcAnswerError for any other, which counts as a wrong answer. */
  #parsed<Shape extends z.ZodType>(health: Health, shape: Shape, answer: unknown): z.output<Shape> {
    const { success, data } = shape.safeParse(answer)
    if (success) return data
    this.distrust(new Set([health.node]))
    throw new RpcAnswerError(`${health.node.name} returned an unexpected answer`)
  }

  /** Checks that the node is on the same chain as the others. */
  async #identify(health: Health): Promise<void> {
    if (health.identity !== null) return
    // One after the other: a node that is down gets a single request.
    const chain = this.#parsed(health, Quantity, await this.#ask(health, 'eth_chainId', []))
    const block = await this.#ask(health, 'eth_getBlockByNumber', ['0x0', false])
    const genesis = this.#parsed(health, Genesis, block).hash
    health.identity = `chain ${chain} with genesis ${genesis}`
    const differing = this.#pool.find(({ identity }) => identity !== null && identity !== health.identity)
    if (!differing) return
    const answers = [differing, health].map(nameIdentity)
    health.identity = null
    throw new NodesDisagreeError('the chain', answers)
  }

  /** Checks that the nodes have one hash for a block. */
  async #checkAgreement(nodes: readonly Health[], number: number): Promise<void> {
    const block = numberToHex(Math.max(number, 0))
    const headers = await answersOf(nodes, (health) => this.#header(health, block))
    const hashes = new Set(headers.map(({ answer }) => answer.hash))
    if (hashes.size > 1) {
      const answers = headers.map(({ health, answer }) => ({ name: health.node.name, answer: answer.hash }))
      throw new NodesDisagreeError(`block ${number}`, answers)
    }
    this.#agreedBlock = number
  }
}

/** The nodes that answer `read`, with their answers; rejects with the last failure if none does. */
async function answersOf<Answer>(nodes: readonly Health[], read: (health: Health) => Promise<Answer>) {
  const results = await Promise.allSettled(nodes.map(async (health) => ({ health, answer: await read(health) })))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const disagreement = failures.find((reason) => reason instanceof NodesDisagreeError)
  if (disagreement) throw disagreement
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (answers.length === 0) throw failures.at(-1)
  return answers
}

/** Counts a failure of a node, which is then asked after those that do not rest. */
function rest(health: Health, restMs: number): void {
  health.failures += WEIGHT * (1 - health.failures)
  health.restsUntil = Date.now() + restMs
}

/** What it costs to ask a node: its latency, more if it often fails; of resting nodes, the first to end its rest first. */
function cost({ latency, failures, restsUntil }: Health): number {
  const restMs = restsUntil - Date.now()
  return restMs > 0 ? 1e9 + restMs : (latency + 1) * (1 + 10 * failures)
}

const nameIdentity = ({ node: { name }, identity }: Health) => ({ name, answer: identity ?? '' })
