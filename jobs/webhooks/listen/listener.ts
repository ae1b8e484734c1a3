import { createServer, type IncomingMessage, type Server } from 'node:http'
import { styleText } from 'node:util'
import { z } from 'zod'
import { signatureProblem } from '../../../clickhouse/webhooks/signature.js'
import { excerptOf } from '../send/exchange.js'

const MAX_BODY_BYTES = 1024 * 1024

const Delivery = z.object({ event: z.string(), delivery_id: z.int(), data: z.record(z.string(), z.unknown()) })

type Received = { status: 200 | 400 | 404 | 405 | 413; line: string }

export type ListenerOptions = {
  secret: string
  /** The only path to accept; null for any. */
  path: string | null
  /** Called with one line per request. */
  print: (line: string) => void
  /** Whether lines about errors are red. */
  colours: boolean
  now: () => Date
}

/** The body as received; null if it is longer than any webhook. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseDelivery(body: Buffer): z.infer<typeof Delivery> | null {
  try {
    return Delivery.safeParse(JSON.parse(body.toString())).data ?? null
  } catch {
    return null
  }
}

/** A receiver for development: verifies every delivery, prints a line about it, and answers 200 or 400. */
export function createListener({ secret, path, print, colours, now }: ListenerOptions): Server {
  const seen = new Set<number>()

  const respond = async (request: IncomingMessage): Promise<Received> => {
    if (path !== null && request.url?.split('?', 1)[0] !== path)
      return { status: 404, line: `not found: ${request.url}` }
    if (request.method !== 'POST') return { status: 405, line: `not a POST: ${request.method} ${request.url}` }
    const body = await readBody(request)
    if (body === null) return { status: 413, line: 'the body is too long' }
    const headerOf = (name: string): string | undefined => [request.headers[name]].flat()[0]
    const id = headerOf('x-service-delivery')
    const problem = signatureProblem({ header: headerOf('x-service-signature'), body, secret, now: now() })
    if (problem !== null) return { status: 400, line: `delivery ${id}: the signature is ${problem}` }
    const delivery = parseDelivery(body)
    if (delivery === null) return { status: 400, line: `delivery ${id}: the body is not a delivery` }
    const { event, delivery_id, data } = delivery
    // Only the body is signed, so the headers are checked against it.
    if (id !== `${delivery_id}` || headerOf('x-service-event') !== event)
      return { status: 400, line: `delivery ${id}: the headers do not match delivery ${delivery_id}, ${event}` }
    const again = seen.has(delivery_id) ? ' again' : ''
    seen.add(delivery_id)
    return { status: 200, line: `delivery ${delivery_id}${again}: ${event} ${JSON.stringify(data)}` }
  }

  return createServer((request, response) => {
    respond(request).then(
      ({ status, line }) => {
        // Text from a stranger must not control the terminal.
        const text = excerptOf(Buffer.from(`${now().toISOString()} ${status} ${line}`))
        print(colours && status !== 200 ? styleText('red', text, { validateStream: false }) : text)
        // Do not wait for the rest of a body that was not read.
        if (!request.complete) response.setHeader('connection', 'close')
        if (status === 405) response.setHeader('allow', 'POST')
        response.writeHead(status).end()
      },
      () => response.destroy(),
    )
  })
}
