// The TypeScript client against bare fetch: milliseconds of a call, and its size.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createClient } from '../../clients/typescript/src/client.js'
import { median, timed } from './measure.js'

const CALLS = 3000

/** A real answer, so that reading it counts as it does for users. */
const answer: unknown = JSON.parse(readFileSync('api/http/openapi/examples/getPeg.json', 'utf8'))
const body = JSON.stringify((answer as Record<string, Record<string, unknown>>)['200']?.['application/json'])
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const address = '0x20c0000000000000000000000000000000000000'
const client = createClient({ baseUrl })
const calls = {
  fetch: async () => (await fetch(`${baseUrl}/api/v1/stablecoins/${address}/peg`)).json(),
  client: async () => client.getPeg({ address }),
}
const times = { fetch: [] as number[], client: [] as number[] }
for (let i = 0; i < CALLS; i++)
  for (const who of i % 2 === 0 ? (['fetch', 'client'] as const) : (['client', 'fetch'] as const))
    times[who].push(await timed(calls[who]))
server.close()
server.closeAllConnections()
const [ours, bare] = [median(times.client), median(times.fetch)]
console.log(
  `a call: client ${ours.toFixed(3)} ms, fetch ${bare.toFixed(3)} ms: ${(ours - bare).toFixed(3)} ms more, ratio ${(ours / bare).toFixed(2)}`,
)
const built = 'clients/typescript/dist/client.js'
const bytes = gzipSync(readFileSync(built), { level: 9 }).length
console.log(`${built}: ${bytes} bytes with gzip (target: under 10,240)`)
