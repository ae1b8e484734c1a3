import autocannon from 'autocannon'
import { statsOf } from './process-stats.js'

const CONNECTIONS = 64

/** What came of asking a server as fast as 64 connections can. */
export type Load = {
  perSecond: number
  /** CPU seconds that the server's process spent on one request: the same on a busy machine. */
  cpuSeconds: number
  /** Milliseconds that no more than one request in a hundred exceeds. */
  p99: number
  /** Requests that failed or were answered with 4xx or 5xx. */
  failed: number
}

/** Asks a server for these paths in turn; each connection begins at another one, so that they do not all ask for the same. */
export async function load(
  { url, pid }: { url: string; pid: number },
  { paths, seconds, headers = {} }: { paths: readonly string[]; seconds: number; headers?: Record<string, string> },
): Promise<Load> {
  const before = statsOf(pid).cpuSeconds
  const requests = paths.map((path) => ({ method: 'GET' as const, path }))
  let opened = 0
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers,
    requests,
    setupClient: (client) => {
      const first = Math.floor((opened++ * requests.length) / CONNECTIONS)
      client.setRequests([...requests.slice(first), ...requests.slice(0, first)])
    },
  })
  return {
    perSecond: result.requests.total / result.duration,
    cpuSeconds: (statsOf(pid).cpuSeconds - before) / result.requests.total,
    p99: result.latency.p99,
    failed: result.errors + result.timeouts + result['4xx'] + result['5xx'],
  }
}
