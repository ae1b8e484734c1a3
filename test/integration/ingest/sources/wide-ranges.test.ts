import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { streamLogs } from '../../../../ingest/sources/log-stream.js'
import { rpcAt } from '../../../../ingest/sources/rpc.js'

const BLOCKS = 40_000
/** One block in so many has a log. */
const LOG_EVERY = 100

const logOf = (number: number) => ({
  ...{ address: `0x${'20'.repeat(20)}`, topics: [], data: '0x', logIndex: '0x0', blockTimestamp: '0x1' },
  blockNumber: numberToHex(number),
  blockHash: `0x${number.toString(16).padStart(64, '0')}`,
  transactionHash: `0x${number.toString(16).padStart(64, '0')}`,
})

type Refusal = (response: ServerResponse, from: number) => void
const answered = (status: number, body: unknown, type = 'application/json'): Refusal => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (response) => void response.writeHead(status, { 'content-type': type }).end(text)
}
const refused = (code: number, message: string, status = 200) =>
  answered(status, { jsonrpc: '2.0', id: 0, error: { code, message } })

/** The blocks whose logs are read from a node that answers at most `most` blocks, and the requests that it took. */
async function readFrom(most: number, refuse: Refusal) {
  const asked: number[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { params } = JSON.parse(Buffer.concat(chunks).toString())
    const [from, to] = [Number(params[0].fromBlock), Number(params[0].toBlock)]
    asked.push(to - from + 1)
    if (to - from + 1 > most) return refuse(response, from)
    const result = []
    for (let n = Math.ceil(from / LOG_EVERY) * LOG_EVERY; n <= to; n += LOG_EVERY) result.push(logOf(n))
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const rpc = rpcAt({
      urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
      ...{ finalityDepth: 0, batchSize: 50, timeoutMs: 1000, attempts: 3 },
      ...{ log: pino({ level: 'silent' }), signal: new AbortController().signal },
    })
    const numbers: number[] = []
    for await (const { logs } of streamLogs(rpc, { topics: [] }, { from: 1, to: BLOCKS }))
      numbers.push(...logs.map(({ blockNumber }) => blockNumber))
    return { numbers, asked }
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test.for<[string, Refusal]>([
  ['says it in its own words', refused(-32001, 'Unable to complete request at this time.')],
  ['says it with another status', refused(30, 'please upgrade your tier', 408)],
  ['offers too much', refused(-32000, 'block range too wide: at most 7000 blocks')],
  ['says it as an error of another form', answered(500, { error: 'Internal server error' })],
  ['stands behind a gateway', answered(502, '<html>Bad Gateway</html>', 'text/html')],
  ['stands behind a gateway that says that all is well', answered(200, '<html>Welcome</html>', 'text/html')],
  ['refuses by the size of a request', answered(413, 'too large', 'text/plain')],
  ['refuses as if asked too often', answered(429, 'not on your plan', 'text/plain')],
  ['gives an empty answer', answered(200, '')],
  ['gives an answer that is cut', answered(200, '{"jsonrpc":"2.0","id":0,"result":[{"addr')],
  ['gives neither a result nor an error', answered(200, { jsonrpc: '2.0', id: 0 })],
  ['hangs up', (response) => void response.socket?.destroy()],
  ['does not answer in time', () => undefined],
])('all logs are read, in few requests, from a node that gives 1000 blocks and else %s', async ([, refuse]) => {
  const { numbers, asked } = await readFrom(1000, refuse)
  expect(numbers).toEqual(Array.from({ length: BLOCKS / LOG_EVERY }, (_, i) => (i + 1) * LOG_EVERY))
  expect(asked.filter((blocks) => blocks > 1000).length).toBeLessThan(25)
  expect(asked.length).toBeLessThan(160)
})

test('a range that a refusal suggests is requested at once', async () => {
  const range = (from: number) => `this block range should work: [${numberToHex(from)}, ${numberToHex(from + 499)}]`
  const { asked } = await readFrom(500, (response, from) => refused(-32600, range(from), 400)(response, from))
  expect(asked.slice(0, 3)).toEqual([10_000, 500, 500])
})
