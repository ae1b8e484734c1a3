import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Call = { id: number; method: string; params: Array<Record<string, unknown>> }
type Answer = { id: number; result: unknown }
/** Changes the answer to a call. */
export type Change = (answer: Answer, call: Call) => void

export type ChangedNode = { url: string; calls: () => number; close: () => void }

/** A proxy of a real node that changes its answers, and takes some time for each. */
export async function changedNode(rpcUrl: string, change: Change, ms = 0): Promise<ChangedNode> {
  let count = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const headers = { 'content-type': 'application/json' }
    const answers = (await (await fetch(rpcUrl, { method: 'POST', headers, body })).json()) as Answer | Answer[]
    await sleep(ms)
    const calls: Call[] = [JSON.parse(body)].flat()
    count += calls.length
    for (const answer of [answers].flat()) change(answer, calls.find(({ id }) => id === answer.id) as Call)
    response.writeHead(200, headers).end(JSON.stringify(answers))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => count,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
