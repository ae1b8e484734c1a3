// A receiver of webhooks that verifies, answers and then works. Nothing has to be installed.
// WEBHOOK_SECRET=whsec_… PORT=4000 node verify.ts    (Node before 22.18: npx tsx verify.ts)
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const TOLERANCE_SECONDS = 300
const LONGEST_BODY = 1024 * 1024

/** Whether one of the header's signatures was made with the secret, over these bytes, within 300 seconds of now. */
export function verify(header: string, body: Buffer, secret: string, now = Date.now() / 1000): boolean {
  const parts = header.split(',').map((part) => part.trim().split('='))
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
  const signatures = parts.flatMap(([name, value = '']) => (name === 'v1' ? [Buffer.from(value, 'hex')] : []))
  return signatures.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
}

/** The body as it came: parsing and serializing it again would change its bytes. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > LONGEST_BODY) throw new Error('body too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const secret = process.env.WEBHOOK_SECRET
if (!secret) throw new Error('WEBHOOK_SECRET is not set')
/** The deliveries seen so far. A real receiver stores each in its database, by event_id, before it answers. */
const done = new Set<number>()

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request)
    if (!verify(`${request.headers['x-service-signature']}`, body, secret)) {
      response.writeHead(400).end('wrong signature\n')
      return
    }
    const { event, delivery_id, data } = JSON.parse(body.toString())
    // The work comes after the answer: after 10 seconds without an answer the delivery counts as failed.
    response.writeHead(204).end()
    if (done.has(delivery_id)) return
    done.add(delivery_id)
    console.log(`delivery ${delivery_id}: ${event} ${JSON.stringify(data)}`)
  } catch {
    response.writeHead(400).end()
  }
})
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () =>
  console.log(`listening on port ${(server.address() as AddressInfo).port}`),
)
