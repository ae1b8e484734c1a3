import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { randomFor } from '../../local/chain/random.js'

/** A received POST. */
export type ReceivedHook = {
  /** The path of the URL, which identifies the endpoint. */
  path: string
  delivery_id: number
  headers: IncomingMessage['headers']
  body: string
}

/**
 * How a receiver answers: with a status, or `reset` (closes the connection), `hang` (never answers), `slow` (200, with an endless
 * body).
 */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'reset'
  | 'hang'
  | 'slow'

export type Receiver = {
  url: (path: string) => string
  received: ReceivedHook[]
  close: () => Promise<void>
}

function give(answer: Answer, response: ServerResponse): void {
  if (answer === 'reset') response.socket?.resetAndDestroy()
  else if (answer === 'hang') return
  else if (answer === 'slow') {
    response.writeHead(200).write('.')
    const timer = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(timer))
  } else {
    const { status, headers = {}, body = `answer ${status}` } = typeof answer === 'number' ? { status: answer } : answer
    response.writeHead(status, headers).end(body)
  }
}

/**
 * A receiver that answers by `answerTo`, which gets the number of attempts of the delivery so far, including this one.
 */
export async function startReceiver(
  answerTo: (hook: ReceivedHook, times: number) => Answer | Promise<Answer>,
): Promise<Receiver> {
  const received: ReceivedHook[] = []
  const times = new Map<number, number>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', async () => {
      const delivery_id = Number(request.headers['x-service-delivery'])
      const hook = {
        path: request.url ?? '',
        delivery_id,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      }
      received.push(hook)
      times.set(delivery_id, (times.get(delivery_id) ?? 0) + 1)
      give(await answerTo(hook, times.get(delivery_id) ?? 0), response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const FAULTS: readonly Answer[] = [500, 503, 404, 'reset', 'hang', 'slow', { status: 302, headers: { location: '/' } }]

/** The answer of a receiver that fails randomly with `probability`, in various ways; depends only on the seed. */
export function faultyAnswer(seed: number, probability: number, { delivery_id }: ReceivedHook, times: number): Answer {
  const random = randomFor(seed, `answer ${delivery_id} ${times}`)
  if (random.next() >= probability) return 200 + random.int(0, 4)
  return FAULTS[random.int(0, FAULTS.length - 1)] as Answer
}

/** Whether the signature was made with `secret`, checked as documented. */
export function isSigned({ headers, body }: ReceivedHook, secret: string): boolean {
  const [, t, signatures] = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(String(headers['x-service-signature'])) ?? []
  const expected = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  return signatures?.split(',v1=').includes(expected) ?? false
}
