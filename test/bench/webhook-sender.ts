// A program: what sends webhooks in benchmarks, once it is told to go: the product's dispatcher, or a loop of plain signed
// requests.
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { Agent } from 'undici'
import { webhookBody } from '../../clickhouse/webhooks/body.js'
import { signatureHeader } from '../../clickhouse/webhooks/signature.js'
import { JobsConfig } from '../../jobs/config.js'
import { runWebhooks } from '../../jobs/webhooks/dispatch/run.js'
import { parseEnv } from '../../process/environment.js'

/** What it is told. */
export type Order =
  | { kind: 'dispatcher' }
  | { kind: 'plain'; urls: string[]; secret: string; data: string; count: number; concurrency: number }

/** As many requests at once as `concurrency` says, one after the other; bodies and signatures as the dispatcher's. */
async function sendPlain({ urls, secret, data, count, concurrency }: Order & { kind: 'plain' }): Promise<void> {
  const agent = new Agent()
  let next = 0
  const send = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      const content = { event_type: 'peg_break.started', event_id: `evt_${i}`, data, published_at: new Date() }
      const body = webhookBody(i, content)
      const { pathname, origin } = new URL(urls[i % urls.length] as string)
      const response = await agent.request({
        origin,
        path: pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-service-signature': signatureHeader({ body, secrets: [secret], at: new Date() }),
          'x-service-event': 'peg_break.started',
          'x-service-delivery': String(i),
          'user-agent': 'bench',
        },
        body,
      })
      await response.body.dump()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, send))
  await agent.close()
}

const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
process.on('message', async (order: Order) => {
  if (order.kind === 'plain') {
    await sendPlain(order)
    process.send?.('done')
    return
  }
  const { SECRETS_KEY, ...config } = parseEnv(JobsConfig, process.env)
  if (!SECRETS_KEY) throw new Error('SECRETS_KEY is not set')
  const log = pino({ level: 'info' })
  const instance = randomUUID()
  await runWebhooks({ config: { ...config, SECRETS_KEY }, instance, mayBegin: () => true, log, signal: stop.signal })
  process.exit(0)
})
stop.signal.addEventListener('abort', () => setTimeout(() => process.exit(0), 15_000).unref())
console.log('sender ready')
