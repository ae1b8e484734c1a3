// A program: a receiver of webhooks for benchmarks. What is sent to /dead is never answered, to /slow after nine seconds,
// all else at once. What is sent to /counted is only counted, as there may be millions of it. Tells whoever started it, when
// asked, what has arrived.
import { createServer } from 'node:http'

const SLOW_MS = 9000

/** What has arrived since it was asked before; times in unix milliseconds. */
export type Arrived = { count: number; times: Record<string, number[]>; events: [id: string, at: number][] }

let arrived: Arrived = { count: 0, times: {}, events: [] }

const server = createServer((request, response) => {
  const at = Date.now()
  const path = request.url ?? ''
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    arrived.count++
    if (path === '/counted') return void response.end()
    arrived.times[path] ??= []
    arrived.times[path].push(at)
    const id = /"event_id":"([^"]+)"/.exec(Buffer.concat(chunks).toString())?.[1]
    if (id) arrived.events.push([id, at])
    if (path === '/dead') return
    if (path === '/slow') setTimeout(() => response.end(), SLOW_MS)
    else response.end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`receiver http://127.0.0.1:${port}`)
})
process.on('message', (question) => {
  if (question === 'count') process.send?.(arrived.count)
  if (question === 'arrived') {
    process.send?.(arrived)
    arrived = { count: 0, times: {}, events: [] }
  }
})
process.on('SIGTERM', () => process.exit(0))
