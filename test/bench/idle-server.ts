import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

/** A server in a process of its own that answers every query at once with one row: what a client takes by itself. */
export async function startIdleServer(): Promise<{ url: string; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const [url] = (await once(child, 'message')) as [string]
  return { url, stop: () => child.kill() }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === 'serve') {
  const headers = { 'X-ClickHouse-Query-Id': 'x', 'X-ClickHouse-Format': 'JSONEachRow', 'X-ClickHouse-Summary': '{}' }
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    request.resume().on('end', () => response.writeHead(200, { ...headers, 'Content-Length': 8 }).end('{"1":1}\n'))
  })
  server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
}
