import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { numberToHex } from 'viem'
import { expect } from 'vitest'
import { z } from 'zod'
import { RawHeader } from '../../../../ingest/chain/rpc-answers.js'
import { test } from '../../../support/bare-chain.js'
import { rpcOf } from '../../../support/rpc.js'

test('a thousand calls are sent as a few requests at a time, and each has its own result', async ({ bareChain }) => {
  const chain = await bareChain()
  for (let i = 0; i < 3; i++) await chain.mine()
  let [requests, open, most] = [0, 0, 0]
  let eightAsk = () => {}
  // The node answers only after eight requests have arrived, and after enough time for more to arrive.
  const eight = new Promise<void>((resolve) => {
    eightAsk = resolve
  }).then(async () => {
    for (let i = 0; i < 50; i++) await chain.rpc.call('eth_chainId')
  })
  const server = createServer(async (request, response) => {
    requests++
    most = Math.max(most, ++open)
    if (open === 8) eightAsk()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    await eight
    const headers = { 'content-type': 'application/json' }
    const answer = await (await fetch(chain.rpcUrl, { method: 'POST', headers, body: Buffer.concat(chunks) })).text()
    open--
    response.writeHead(200, headers).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const rpc = rpcOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const numbers = Array.from({ length: 1000 }, (_, i) => i % 4)
    const headers = await Promise.all(
      numbers.map((number) => rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader)),
    )
    expect(headers.map(({ number }) => number)).toEqual(numbers)
    expect(most).toBe(8)
    expect(requests).toBeLessThan(100)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

type Refusal = { id: number; error: { code: number; message: string } }

test.for<[string, ((id: number) => Refusal) | null]>([
  ['with a status', null],
  ['in the answer to each call', (id) => ({ id, error: { code: -32097, message: 'call rate limit exhausted' } })],
])(
  'a node that allows fewer calls at a time than a batch has, and refuses %s, gets and answers them all',
  async ([, refusal], { bareChain }) => {
    const chain = await bareChain()
    const [most, windowMs] = [10, 50]
    let [window, inWindow, refusals] = [0, 0, 0]
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const calls = [JSON.parse(body) as { id: number }].flat()
      const now = Math.floor(Date.now() / windowMs)
      if (now !== window) [window, inWindow] = [now, 0]
      inWindow += calls.length
      const headers = { 'content-type': 'application/json' }
      if (inWindow > most) {
        refusals++
        const answers = refusal && calls.map(({ id }) => ({ jsonrpc: '2.0', ...refusal(id) }))
        return void (answers
          ? response.writeHead(200, headers).end(JSON.stringify(answers))
          : response.writeHead(429).end('slow down'))
      }
      response.writeHead(200, headers).end(await (await fetch(chain.rpcUrl, { method: 'POST', headers, body })).text())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const rpc = rpcOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      const read = rpc.persist('read them', () =>
        Promise.all(Array.from({ length: 120 }, () => rpc.request('eth_getBlockByNumber', ['0x0', false], RawHeader))),
      )
      expect((await read).map(({ number }) => number)).toEqual(Array(120).fill(0))
      expect(refusals).toBeGreaterThan(3)
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  },
)

test('an error is one line with the reason, without the request and the key in the URL', async ({ bareChain }) => {
  const chain = await bareChain()
  const key = 'k3y'
  const failureAt = async (url: string, method: string, params: unknown[]): Promise<string> => {
    const rpc = rpcOf(url)
    const read = rpc.persist('read it', () => rpc.request(method, params, z.unknown()))
    return String(await read.catch((error: Error) => error.message))
  }
  const params = [{ to: `0x${'00'.repeat(20)}`, data: `0x${'ab'.repeat(5000)}` }, '0xffff']
  const refused = await failureAt(`${chain.rpcUrl}/?key=${key}`, 'eth_call', params)
  await chain.stop()
  const gone = await failureAt(`${chain.rpcUrl}/?key=${key}`, 'eth_call', params)
  expect(refused).toMatch(/^read it failed 1 times: .*block/i)
  expect(gone).toMatch(/^read it failed 1 times: .*request failed/i)
  for (const message of [refused, gone]) {
    expect(message).not.toContain('\n')
    expect(message).not.toContain(key)
    expect(message).not.toContain('abab')
  }
})
