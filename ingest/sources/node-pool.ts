import type { Logger } from 'pino'
import { BaseError, numberToHex, RpcRequestError } from 'viem'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { Quantity, RawHeader } from '../chain/rpc-answers.js'
import { isRateLimited, retryAfterMs } from './range-refusals.js'

/** Sends one JSON-RPC call, once. */
export type Send = (method: string, params: unknown[]) => Promise<unknown>

/** One of the nodes in RPC_URL. `name` is safe to log: a URL may contain a key. */
export type Node = { name: string; send: Send }

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
const Head = RawHeader.pick({ number: true, hash: true })
const Genesis = RawHeader.pick({ hash: true })

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
export function nodePool(nodes: readonly Node[], finalityDepth: number, log: Logger): Send {
  const pool: Health[] = nodes.map((node) => ({
    ...{ node, latency: 0, failures: 0, consecutiveFailures: 0, restsUntil: 0, head: null, identity: null },
  }))
  let agreedBlock = -1

  async function ask(health: Health, method: string, params: unknown[]): Promise<unknown> {
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
        health.failures += WEIGHT * (1 - health.failures)
        const rest = Math.min(FIRST_REST_MS * 2 ** health.consecutiveFailures++, LONGEST_REST_MS)
        health.restsUntil = now + Math.max(rest, retryAfterMs(error, now))
        log.warn({ node: health.node.name, reason: firstLine(error) }, 'a node failed: asking the others')
      }
      throw error
    }
  }

  /** Checks that the node is on the same chain as the others. */
  async function identify(health: Health): Promise<void> {
    if (health.identity !== null) return
    const [chain, genesis] = await Promise.all([
      ask(health, 'eth_chainId', []).then((answer) => Quantity.parse(answer)),
      ask(health, 'eth_getBlockByNumber', ['0x0', false]).then((answer) => Genesis.parse(answer).hash),
    ])
    health.identity = `chain ${chain} with genesis ${genesis}`
    const other = pool.find(({ identity }) => identity !== null && identity !== health.identity)
    if (!other) return
    const answers = [other, health].map(nameIdentity)
    health.identity = null
    throw new NodesDisagreeError('the chain', answers)
  }

  /** The nodes that answer `read`, with their answers; rejects with the last failure if none does. */
  async function all<Answer>(of: readonly Health[], read: (health: Health) => Promise<Answer>) {
    const results = await Promise.allSettled(of.map(async (health) => ({ health, answer: await read(health) })))
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    const fatal = failed.find((reason) => reason instanceof NodesDisagreeError)
    if (fatal) throw fatal
    const answered = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    if (answered.length === 0) throw failed.at(-1)
    return answered
  }

  const header = (health: Health, block: string) =>
    ask(health, 'eth_getBlockByNumber', [block, false]).then((raw) => ({ raw, ...Head.parse(raw) }))

  async function newestHead(tag: string): Promise<unknown> {
    const look = async (health: Health) => {
      await identify(health)
      const head = await header(health, tag)
      health.head = Math.max(health.head ?? 0, head.number)
      return head
    }
    // A node that failed is polled in the background, and waited for only once it answers again.
    const fit = pool.filter(({ consecutiveFailures }) => consecutiveFailures === 0)
    for (const health of pool) {
      if (fit.length > 0 && health.consecutiveFailures > 0 && health.restsUntil <= Date.now())
        look(health).catch(() => {})
    }
    const heads = await all(fit.length > 0 ? fit : pool, look)
    const numbers = heads.map(({ answer }) => answer.number)
    const isFinal = tag === 'finalized' || finalityDepth > 0
    const final = Math.min(...numbers) - (tag === 'finalized' ? 0 : finalityDepth)
    if (isFinal && final > agreedBlock && heads.length > 1) {
      const block = numberToHex(Math.max(final, 0))
      const same = await all(
        heads.map(({ health }) => health),
        (health) => header(health, block),
      )
      const hashes = new Set(same.map(({ answer }) => answer.hash))
      if (hashes.size > 1) {
        const answers = same.map(({ health, answer }) => ({ name: health.node.name, answer: answer.hash }))
        throw new NodesDisagreeError(`block ${final}`, answers)
      }
      agreedBlock = final
    }
    return heads.find(({ answer }) => answer.number === Math.max(...numbers))?.answer.raw
  }

  const cost = ({ latency, failures, restsUntil }: Health): number =>
    (restsUntil > Date.now() ? 1e9 : 0) + (latency + 1) * (1 + 10 * failures)

  return async (method, params) => {
    const isHead = method === 'eth_getBlockByNumber' && z.enum(['latest', 'finalized']).safeParse(params[0]).success
    if (isHead) return newestHead(params[0] as string)
    // All nodes are checked at once, so that a wrong one is found before anything is written.
    if (pool.every(({ identity }) => identity === null)) await all(pool, identify)
    const needed = neededBlock(method, params)
    const able = pool.filter(({ head }) => needed === null || head === null || head >= needed)
    let failure: unknown
    let isUnknown = false
    for (const health of [...(able.length > 0 ? able : pool)].sort((a, b) => cost(a) - cost(b))) {
      try {
        await identify(health)
        const answer = await ask(health, method, params)
        if (answer !== null) return answer
        isUnknown = true
      } catch (error) {
        if (error instanceof NodesDisagreeError) throw error
        failure = error
      }
    }
    if (isUnknown) return null
    throw failure
  }
}

const nameIdentity = ({ node: { name }, identity }: Health) => ({ name, answer: identity ?? '' })

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split('\n')[0] ?? ''
