import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Starts a server on a free port, which ends with the test. */
export async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** The same, which gives one reply after the other, the last one again and again, and notes the requests. */
export async function answering(...replies: Reply[]): Promise<{ baseUrl: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const baseUrl = await startServer((request, response) => {
    requests.push(request)
    replies[Math.min(requests.length, replies.length) - 1]?.(response, request)
  })
  return { baseUrl, requests }
}

/** A reply with JSON. */
export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
