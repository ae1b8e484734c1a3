import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFor } from '../../local/chain/random.js'

type Answer = { id: number; result?: unknown; error?: unknown }
type Call = { id: number; method: string; params: Array<Record<string, string> | string> }

/** How many blocks of logs a limited node returns, and how many blocks a lagging node is behind. */
const MOST_BLOCKS = 9
const BLOCKS_BEHIND = 30
/** The first block whose state a pruning node still has. */
export const OLDEST_STATE = 70

/** Faults of an answer whatever it says. */
const TRANSPORT_FAULTS = [
  'refused',
  'slow',
  'silent',
  'rate-limited',
  'rate-limited-without-an-end',
  'reset',
  'garbage',
] as const

/** Faults of a single answer. */
export const PASSING_FAULTS = [
  ...TRANSPORT_FAULTS,
  'no-logs',
  'cut-logs',
  'holed-logs',
  'logs-of-another-block',
  'no-block',
  'cut-block',
  'other-block',
  'cut-call',
  'lagging',
] as const

/** All faults; those after the passing ones are permanent properties of a node. */
export type Fault =
  | (typeof PASSING_FAULTS)[number]
  | 'none'
  | 'limited-logs'
  | 'pruned'
  | 'behind'
  | 'other-hash'
  | 'other-chain'

/** Faults that strike every answer, whatever is in it. */
const WHOLE_ANSWER: ReadonlySet<Fault> = new Set<Fault>([...TRANSPORT_FAULTS, 'lagging'])

/** A random fault for the n-th request, drawn from `seed`: each kind at its rate, otherwise none. */
export function seededFaults(seed: number, rates: Partial<Record<Fault, number>>): (request: number) => Fault {
  return (request) => {
    let draw = randomFor(seed, 'faults', request).next()
    for (const [fault, rate] of Object.entries(rates)) {
      draw -= rate
      if (draw < 0) return fault as Fault
    }
    return 'none'
  }
}

/** How many blocks a temporarily lagging node is behind. */
const LAG = 5

export type FaultyNode = {
  url: string
  /** What to do with the n-th request, counted from 0. */
  faults: (request: number) => Fault
  requests: () => number
  /** Number of requests whose answer a fault changed. */
  strikes: () => number
  /** Number of requests for blocks that it does not have because it lags. */
  beyond: () => number
  close: () => Promise<void>
}

const isLogs = (result: unknown): result is Array<Record<string, unknown>> => Array.isArray(result) && result.length > 0
const isBlock = (result: unknown): result is Record<string, unknown> =>
  typeof result === 'object' && result !== null && 'parentHash' in result
const isBytes = (result: unknown): result is string => typeof result === 'string' && result.length > 200

const hex = (number: number): string => `0x${number.toString(16)}`

/** The error of a limited node for a call; undefined if it can answer. */
function refusal({ method, params }: Call, answer: Answer, fault: Fault): object | undefined {
  const [filter] = params
  if (fault === 'limited-logs' && method === 'eth_getLogs' && typeof filter === 'object') {
    const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1
    const message = `query exceeds max block range ${MOST_BLOCKS}`
    return blocks > MOST_BLOCKS ? { error: { code: -32602, message } } : undefined
  }
  if (fault === 'other-chain' && method === 'eth_chainId') return { result: '0x7a69aa' }
  if (fault === 'other-hash' && method === 'eth_getBlockByNumber' && isBlock(answer.result) && filter !== '0x0') {
    return { result: { ...answer.result, hash: `0x${'cd'.repeat(32)}` } }
  }
  return undefined
}

/** Damages every answer that the fault applies to. */
function damage(calls: Call[], answers: Answer[], fault: Fault): void {
  for (const answer of answers) {
    const call = calls.find(({ id }) => id === answer.id)
    const refused = call && refusal(call, answer, fault)
    if (refused && 'error' in refused) delete answer.result
    Object.assign(answer, refused)
    const { result } = answer
    if (fault === 'no-logs' && isLogs(result)) answer.result = []
    else if (fault === 'cut-logs' && isLogs(result)) answer.result = result.slice(0, -1)
    else if (fault === 'cut-block' && isBlock(result)) answer.result = { number: result.number, hash: result.hash }
    else if (fault === 'other-block' && isBlock(result))
      answer.result = { ...result, parentHash: `0x${'ab'.repeat(32)}` }
    else if (fault === 'holed-logs' && isLogs(result))
      answer.result = result.filter((_, i) => i !== Math.floor(result.length / 2))
    else if (fault === 'logs-of-another-block' && isLogs(result))
      answer.result = result.map((log) => ({ ...log, blockHash: `0x${'cd'.repeat(32)}` }))
    else if (fault === 'no-block' && isBlock(result)) answer.result = null
    else if (fault === 'cut-call' && isBytes(result)) answer.result = result.slice(0, 130)
  }
}

/** Changes calls and answers to those of a node without the newest blocks. */
async function lag(rpcUrl: string, calls: Call[]): Promise<(answers: Answer[]) => void> {
  const head = Math.max(Number((await ask(rpcUrl, 'eth_blockNumber', [])).result) - LAG, 0)
  for (const { params } of calls) {
    if (params?.[0] === 'latest' || params?.[0] === 'finalized') params[0] = hex(head)
  }
  return (answers) => {
    for (const answer of answers) {
      if (isBlock(answer.result) && Number(answer.result.number) > head) answer.result = null
    }
  }
}

const post = async <Result>(url: string, body: string): Promise<Result> =>
  (await (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()) as Result

const ask = (url: string, method: string, params: unknown[]): Promise<Answer> =>
  post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))

/** Refuses reads of old states, as Geth does. */
async function forget(calls: Call[], answers: Answer[], rpcUrl: string): Promise<void> {
  for (const { id, method, params } of calls) {
    const block = params[1]
    if (method !== 'eth_call' || typeof block !== 'object') continue
    const found = await ask(rpcUrl, 'eth_getBlockByHash', [block.blockHash, false])
    const isOld = isBlock(found.result) && Number(found.result.number) < OLDEST_STATE
    const answer = answers.find((candidate) => candidate.id === id)
    if (!isOld || !answer) continue
    delete answer.result
    answer.error = { code: -32000, message: 'missing trie node 5d3b5e (path )' }
  }
}

/** Makes a call see the chain as it was some blocks ago; `beyond` counts calls for newer blocks. */
async function fallBehind({ method, params }: Call, rpcUrl: string, node: { beyond: number }): Promise<void> {
  const head = Number((await ask(rpcUrl, 'eth_blockNumber', [])).result) - BLOCKS_BEHIND
  const isAbove = (block: unknown): boolean =>
    typeof block === 'string' && block.startsWith('0x') && Number(block) > head
  if (method === 'eth_getBlockByNumber') {
    if (params[0] === 'latest') params[0] = hex(head)
    // A block beyond the head.
    else if (isAbove(params[0])) [params[0], node.beyond] = ['0xffffffff', node.beyond + 1]
  } else if (method === 'eth_getLogs' && typeof params[0] === 'object' && isAbove(params[0].toBlock)) {
    // Nodes silently omit logs that they do not have.
    params[0].toBlock = hex(head)
    node.beyond++
  }
}

/** A proxy of a real node that damages its answers. */
export async function faultyNode(rpcUrl: string, faults: (request: number) => Fault): Promise<FaultyNode> {
  let requests = 0
  let strikes = 0
  const node = { faults, beyond: 0 }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const fault = node.faults(requests++)
    if (WHOLE_ANSWER.has(fault)) strikes++
    if (fault === 'refused') return void request.socket.destroy()
    if (fault === 'rate-limited') return void response.writeHead(429, { 'retry-after': '1' }).end('slow down')
    if (fault === 'rate-limited-without-an-end') return void response.writeHead(429).end('slow down')
    if (fault === 'silent') return
    if (fault === 'garbage')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>502</html>')
    if (fault === 'slow') await sleep(1500)
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
    const calls = [asked].flat()
    if (fault === 'behind') for (const call of calls) await fallBehind(call, rpcUrl, node)
    const forgetNewest = fault === 'lagging' ? await lag(rpcUrl, calls) : () => {}
    const body = await post<Answer | Answer[]>(rpcUrl, JSON.stringify(asked))
    const answers = [body].flat()
    forgetNewest(answers)
    if (fault === 'pruned') await forget(calls, answers, rpcUrl)
    const undamaged = JSON.stringify(body)
    damage(calls, answers, fault)
    const text = JSON.stringify(body)
    if (text !== undamaged) strikes++
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    if (fault === 'reset') response.write(text.slice(0, text.length / 2), () => request.socket.destroy())
    else response.end(text)
  }
  const server: Server = createServer((request, response) => {
    // The real node may be gone.
    answer(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set faults(faults: (request: number) => Fault) {
      node.faults = faults
    },
    get faults() {
      return node.faults
    },
    requests: () => requests,
    strikes: () => strikes,
    beyond: () => node.beyond,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
