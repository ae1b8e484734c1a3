import type { Server, ServerResponse } from 'node:http'

/** Where Node keeps a rendered head that is not yet sent. */
type Rendered = { _header: string | null }

/** What Node adds to each response that leaves its connection open: `Date`, `Connection` and `Keep-Alive`. */
export function createConnectionLines({ keepAliveTimeout }: Server): () => string {
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1000)}\r\n`
  let second = 0
  let lines = ''
  return () => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) {
      second = now
      lines = `Date: ${new Date(now * 1000).toUTCString()}\r\n${keepAlive}`
    }
    return lines
  }
}

/**
 * Ends a response whose head is already rendered, on a connection that stays open. `head` ends before the empty line.
 * The head, and a body that is a string, must be checked Latin-1. Node has no public way to do this: `writeHead` checks
 * and copies every field of every response again, a tenth of the CPU time of a cached answer. So the head is stored
 * where Node stores it, and a string body is appended to it, which makes one write of two.
 */
export function sendRendered(response: ServerResponse, head: string, body: Buffer | string): void {
  const rendered = response as unknown as Rendered
  if (typeof body === 'string') {
    rendered._header = `${head}\r\n${body}`
    response.end()
  } else {
    rendered._header = `${head}\r\n`
    response.end(body)
  }
}
