import { test as base, expect } from 'vitest'
import { nameServers } from '../../../jobs/webhooks/guard/checked-lookup.js'
import { createSender, type Exchange } from '../../../jobs/webhooks/send/sender.js'
import { type IpNetwork, parseIpNetwork } from '../../../process/ip-networks.js'
import { type Answers, startNameServer } from './name-server.js'
import type { Receiver } from './receivers.js'

/** The timeout in tests in which nothing should reach it. */
const LONG_MS = 120_000

/** What no error may reveal: receivers put their own secrets into paths and receive our signatures. */
export const PRIVATE = { path: '/hooks/T0KEN-of-the-receiver', signature: 't=1784563200,v1=5ec7e7' }

type Options = { allowed?: string[]; ports?: number[] | 'any'; timeoutMs?: number; ca?: string; answers?: Answers }

type Sending = {
  /** Sends to origins with a separate sender and name server. */
  sending: (options?: Options) => Promise<{
    asked: string[]
    send: (origin: string, body?: string) => Promise<Exchange>
    close: () => Promise<void>
  }>
  /** A receiver that is closed after the test. */
  running: (receiver: Promise<Receiver>) => Promise<Receiver>
}

/** Tests of where webhooks are sent. 127.0.0.1 is allowed by default; 127.0.0.2 represents another machine. */
export const test = base.extend<Sending>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  sending: async ({}, use) => {
    const ends: (() => unknown)[] = []
    await use(async ({ allowed = ['127.0.0.1'], ports = 'any', timeoutMs = LONG_MS, ca, answers = () => [] } = {}) => {
      const { server, asked, close } = await startNameServer(answers)
      const sender = createSender({
        rules: { networks: allowed.map((network) => parseIpNetwork(network) as IpNetwork), ports },
        resolve: nameServers([server]),
        timeoutMs,
        userAgent: 'Service-Webhook/1 (+http://localhost:3000)',
        ...(ca !== undefined && { ca }),
      })
      ends.push(close, () => sender.close().catch(() => {}))
      const headers = { 'X-Service-Signature': PRIVATE.signature, 'X-Service-Event': 'peg_break.started' }
      return {
        asked,
        close: sender.close,
        send: async (origin, body = '{}') => {
          const exchange = await sender.send({ url: `${origin}${PRIVATE.path}`, body, headers })
          for (const secret of Object.values(PRIVATE)) expect(JSON.stringify(exchange)).not.toContain(secret)
          return exchange
        },
      }
    })
    for (const end of ends) await end()
  },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  running: async ({}, use) => {
    const receivers: Receiver[] = []
    await use(async (starting) => {
      const receiver = await starting
      receivers.push(receiver)
      return receiver
    })
    for (const { close } of receivers) await close()
  },
})
