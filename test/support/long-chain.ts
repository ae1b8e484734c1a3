import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256, toHex } from 'viem'
import type { RawLog } from '../../ingest/chain/rpc-answers.js'
import { encodedLog } from './logs.js'

type Call = { id: number; method: string; params: unknown[] }
type Filter = {
  fromBlock: string
  toBlock: string
  topics?: Array<string | string[] | null>
  address?: string | string[]
}
type Answer = { result?: unknown; error?: { code: number; message: string } }

/** How a node of a long chain answers. Without limits it answers everything, at once. */
export type LongChainLimits = {
  /** How long every HTTP request takes before it is looked at, in milliseconds. */
  latencyMs?: number
  /** Most blocks, and most results, of one eth_getLogs; what a refusal says of them. */
  mostBlocks?: number
  mostResults?: number
  refusal?: (most: number) => string
  /** eth_getLogs a second, beyond which it answers 429 with this Retry-After in seconds. */
  logsPerSecond?: number
  retryAfter?: number
  /** The n-th eth_getLogs, from 0, that is answered this late. */
  late?: { every: number; ms: number }
  /** Whether logs have their block's time; a wrong one is a thousand times as large. */
  blockTimestamps?: boolean | 'wrong'
}

export type LongChain = {
  url: string
  /** The number of the newest block that the real chain does not have. */
  before: number
  limits: LongChainLimits
  counts: Record<string, number>
  close: () => Promise<void>
}

const PATH_USD = '0x20c0000000000000000000000000000000000000'
const FACTORY = '0x20fc000000000000000000000000000000000000'
const DEX = '0xdec0000000000000000000000000000000000000'
const MAKER = '0x00000000000000000000000000000000000000a1'
const ZERO = `0x${'0'.repeat(64)}`
/** Two blocks a second, as on the public networks. */
const BLOCKS_PER_SECOND = 2

const post = async (url: string, calls: unknown): Promise<unknown> => {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })).json()
}

/** Every kind of log of the catalogue in turn: a token, a role, an order for it, its new quote token, the order flipped. */
function logOf(turn: number): RawLog {
  const generation = Math.floor(turn / 5)
  const token = `0x20c0${toHex(2n ** 64n + BigInt(generation), { size: 18 }).slice(2)}`
  const orderId = 2n ** 64n + BigInt(generation)
  switch (turn % 5) {
    case 0:
      return encodedLog('tip20Factory', 'TokenCreated', FACTORY, {
        ...{ token, name: `Old ${generation}`, symbol: `OLD${generation}`, currency: 'USD', quoteToken: PATH_USD },
        ...{ admin: MAKER, salt: ZERO },
      })
    case 1: {
      const args = { role: ZERO, account: MAKER, sender: MAKER, hasRole: true }
      return encodedLog('tip20', 'RoleMembershipUpdated', token, args)
    }
    case 2:
      return encodedLog('stablecoinDex', 'OrderPlaced', DEX, {
        ...{ orderId, maker: MAKER, token, amount: 10n ** 9n, isBid: true, tick: 10, isFlipOrder: true, flipTick: 20 },
      })
    case 3:
      return encodedLog('tip20', 'QuoteTokenUpdate', token, { updater: MAKER, newQuoteToken: PATH_USD })
    default:
      return encodedLog('tip20', 'RoleMembershipUpdated', token, {
        ...{ role: ZERO, account: MAKER, sender: MAKER, hasRole: false },
      })
  }
}

const matches = ({ topics: [wanted] = [], address }: Filter, log: RawLog): boolean =>
  (!wanted || [wanted].flat().includes(log.topics[0] as string)) && (!address || [address].flat().includes(log.address))

/**
 * A real node's chain as the newest part of a far longer one: its genesis block is block `before + 1`, and the blocks
 * below are by formula, one in `logEvery` with a log of the catalogue. States of those are the real chain's first.
 */
export async function longChain(
  rpcUrl: string,
  { before, logEvery, limits = {} }: { before: number; logEvery: number; limits?: LongChainLimits },
): Promise<LongChain> {
  const base = before + 1
  const genesis = (await realBlock('0x0')) as { timestamp: string }
  const first = (await realBlock('0x1')) as { hash: string } | null
  const start = Number(genesis.timestamp)
  const counts: Record<string, number> = {}
  let [second, inSecond] = [0, 0]

  async function realBlock(number: string): Promise<Record<string, unknown> | null> {
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: [number, false] }
    return ((await post(rpcUrl, body)) as { result: Record<string, unknown> | null }).result
  }
  // The newest block by formula is the parent of the real genesis block, whose parent hash is zero.
  const hashOf = (number: number): string => (number === before ? ZERO : keccak256(toHex(number, { size: 32 })))
  const timeOf = (number: number): number => start - Math.ceil((base - number) / BLOCKS_PER_SECOND)
  const header = (number: number) => ({
    number: toHex(number),
    hash: hashOf(number),
    parentHash: number === 0 ? ZERO : hashOf(number - 1),
    timestamp: toHex(timeOf(number)),
    logsBloom: `0x${'0'.repeat(512)}`,
    transactions: [],
  })
  const shifted = (found: unknown): unknown => {
    if (typeof found !== 'object' || found === null) return found
    const own = found as Record<string, unknown>
    const number = own.number ?? own.blockNumber
    if (typeof number !== 'string') return own
    const there = toHex(Number(number) + base)
    return 'number' in own ? { ...own, number: there } : { ...own, blockNumber: there }
  }
  function* oldLogs(filter: Filter, from: number, to: number) {
    for (
      let number = Math.ceil(Math.max(from, 1) / logEvery) * logEvery;
      number <= Math.min(to, before);
      number += logEvery
    ) {
      const log = logOf(number / logEvery - 1)
      if (!matches(filter, log)) continue
      const factor = limits.blockTimestamps === 'wrong' ? 1000 : 1
      const time = limits.blockTimestamps === false ? {} : { blockTimestamp: toHex(factor * timeOf(number)) }
      yield { ...log, ...time, blockNumber: toHex(number), blockHash: hashOf(number), logIndex: '0x0' }
    }
  }

  async function logs(filter: Filter, forward: (params: unknown[]) => Promise<Answer>): Promise<Answer> {
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
    const nth = (counts.eth_getLogs ?? 1) - 1
    if (limits.late && nth % limits.late.every === limits.late.every - 1) await sleep(limits.late.ms)
    const { mostBlocks = Number.POSITIVE_INFINITY, mostResults = Number.POSITIVE_INFINITY } = limits
    const refused = (most: number, words: string): Answer => {
      counts.refused = (counts.refused ?? 0) + 1
      return { error: { code: -32602, message: limits.refusal?.(most) ?? words } }
    }
    if (to - from + 1 > mostBlocks) return refused(mostBlocks, `query exceeds max block range ${mostBlocks}`)
    const old = [...oldLogs(filter, from, to)]
    let real: Record<string, unknown>[] = []
    if (to >= base) {
      const params = { ...filter, fromBlock: toHex(Math.max(from - base, 0)), toBlock: toHex(to - base) }
      const answer = await forward([params])
      if (answer.error) return answer
      real = (answer.result as Record<string, unknown>[]).map((log) => shifted(log) as Record<string, unknown>)
      if (limits.blockTimestamps === false) real = real.map(({ blockTimestamp: _, ...log }) => log)
    }
    const result = [...old, ...real]
    return result.length > mostResults
      ? refused(mostResults, `query returned more than ${mostResults} results`)
      : { result }
  }

  async function answer({ method, params }: Call): Promise<Answer> {
    counts[method] = (counts[method] ?? 0) + 1
    const forward = async (own: unknown[]): Promise<Answer> => {
      const { result, error } = (await post(rpcUrl, { jsonrpc: '2.0', id: 1, method, params: own })) as Answer
      return error ? { error } : { result }
    }
    if (method === 'eth_getLogs') return logs(params[0] as Filter, forward)
    if (method === 'eth_getBlockByNumber' && `${params[0]}`.startsWith('0x')) {
      const number = Number(params[0])
      if (number < base) return { result: header(number) }
      return { result: shifted((await forward([toHex(number - base), params[1]])).result) }
    }
    if (method === 'eth_call') {
      const at = params[1] as { blockHash?: string }
      // Known by what only they have: the real node has no block of this hash.
      const known = at.blockHash && (await real(at.blockHash))
      return forward(known ? params : [params[0], { blockHash: first?.hash }])
    }
    const { result, error } = await forward(params)
    return error ? { error } : { result: shifted(result) }
  }
  const known = new Map<string, boolean>()
  async function real(hash: string): Promise<boolean> {
    const there = known.get(hash)
    if (there !== undefined) return there
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByHash', params: [hash, false] }
    const isReal = ((await post(rpcUrl, body)) as Answer).result !== null
    known.set(hash, isReal)
    return isReal
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (limits.latencyMs) await sleep(limits.latencyMs)
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
    const calls = [asked].flat()
    if (limits.logsPerSecond) {
      const now = Math.floor(Date.now() / 1000)
      // A new second begins only once one was exceeded, so that slow callers exceed it too.
      if (now !== second && inSecond > limits.logsPerSecond) inSecond = 0
      inSecond += calls.filter(({ method }) => method === 'eth_getLogs').length
      if (inSecond > limits.logsPerSecond) {
        second = now
        counts.limited = (counts.limited ?? 0) + 1
        return void response.writeHead(429, { 'retry-after': `${limits.retryAfter ?? 1}` }).end('slow down')
      }
    }
    const answers = await Promise.all(
      calls.map(async (call) => ({ jsonrpc: '2.0', id: call.id, ...(await answer(call)) })),
    )
    const text = JSON.stringify(Array.isArray(asked) ? answers : answers[0])
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    before,
    limits,
    counts,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
