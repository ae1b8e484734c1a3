import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { apiProcess } from '../../../support/api-process.js'
import { ADMIN_KEY } from '../../../support/app.js'
import { stillChain } from '../../../support/chain.js'
import { ingestedTo, processOf, startIngest } from '../../../support/ingest.js'
import { until } from '../../../support/jobs/process.js'
import { test } from '../../../support/services.js'
import { startProgram } from '../../../support/webhooks/program.js'

const program = (path: string): string => fileURLToPath(new URL(`../../../../dist/${path}`, import.meta.url))

const BLOCK_SECONDS = 20

/** The same settings for the jobs, which send, and the API, which accepts URLs and creates secrets. */
const WEBHOOKS = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64url'),
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  WEBHOOK_ALLOWED_PORTS: 'any',
}

type Subscription = { id: string; secret: string }
type Events = { events: { id: string; event: string; data: Record<string, unknown> }[] }
type Deliveries = {
  deliveries: {
    delivery_id: number
    event_id: string
    state: string
    attempts: { attempt: number; outcome: string; status: number }[]
  }[]
}

/** Sends a request to the API as the admin; an error contains the response. */
const adminOf =
  (url: string) =>
  async <Answer>(path: string, method = 'GET', body?: unknown): Promise<Answer> => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
    const sent = body === undefined ? { headers } : { headers, body: JSON.stringify(body) }
    const response = await fetch(`${url}/api/${path}`, { method, ...sent })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Answer
  }

test('a receiver gets a planned severe break as started and as ended, with valid signatures', {
  timeout: 900_000,
}, async ({ clickhouse, clickhouseEnv }) => {
  const chain = await stillChain({ historyBlocks: 240, blockSeconds: BLOCK_SECONDS, stables: 9, seed: 7 })
  onTestFinished(chain.remove)
  const planned = chain.plan.episodes(1, chain.head).flatMap((one) => (one.kind === 'severe_break' ? [one] : []))
  expect(planned).toHaveLength(1)
  const [{ stable: symbol, fromBlock, toBlock, sizeBps }] = planned as [(typeof planned)[0]]
  const { address } = chain.plan.stable(symbol)

  const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
  onTestFinished(() => ingest.kill('SIGTERM'))
  await ingestedTo(clickhouse, chain.head, ingest, 300)

  const { url, log } = await apiProcess({ ...clickhouseEnv, ...WEBHOOKS, ADMIN_API_KEY: ADMIN_KEY })
  const admin = adminOf(url)
  // Its address is known only once it runs, and it needs the secret to run.
  const { id, secret } = await admin<Subscription>('admin/webhooks', 'POST', {
    label: 'of the test',
    url: 'http://127.0.0.1:1/',
    event_types: ['peg_break.started', 'peg_break.ended'],
    stable_filter: [address],
  })
  const receiver = await startProgram(
    [process.execPath, program('jobs/webhooks/listen/listen-main.js'), '--port', '0', '--path', '/hook'],
    { WEBHOOK_SECRET: secret },
    /^listening at (http:\S+)\n/,
  )
  onTestFinished(receiver.end)
  await admin(`admin/webhooks/${id}`, 'PATCH', { url: receiver.ready })

  const jobs = processOf(
    spawn(process.execPath, [program('jobs/main.js')], {
      env: { ...process.env, ...clickhouseEnv, ...WEBHOOKS },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  )
  onTestFinished(() => jobs.kill('SIGTERM'))
  await until('two deliveries', () => receiver.lines().length >= 2, [ingest, jobs], 600)

  const received = receiver.lines().map((line) => /^\S+ 200 delivery (\d+): (\S+) (.+)$/.exec(line))
  const told = received.map((line) => ({ event: line?.[2], data: JSON.parse(line?.[3] ?? 'null') }))
  const duration_seconds = (toBlock - fromBlock) * BLOCK_SECONDS
  const direction = sizeBps < 0 ? 'below' : 'above'
  // A planned break moves the whole book.
  const standing = { standing_tokens: 1_000_000, thin: false }
  const start = { stable: address.toLowerCase(), severity: 'severe', direction, started_block: fromBlock, ...standing }
  const max_deviation_bps = Math.abs(sizeBps)
  expect(Object.fromEntries(told.map(({ event, data }) => [event, data]))).toEqual({
    'peg_break.started': { ...start, started_at: expect.any(String), max_deviation_bps },
    'peg_break.ended': {
      ...start,
      started_at: expect.any(String),
      max_deviation_bps,
      ended_at: expect.any(String),
      ended_block: toBlock,
      duration_seconds,
    },
  })

  // The log of events has the same events, and those of the other stables, which were not sent.
  const { events } = await admin<Events>(`v1/events?stable=${address}&types=peg_break.started,peg_break.ended`)
  expect(events.map(({ event, data }) => ({ event, data }))).toEqual(expect.arrayContaining(told))
  expect(events).toHaveLength(2)
  const all = await admin<Events>('v1/events?types=peg_break.started,peg_break.ended')
  expect(all.events.length).toBeGreaterThan(events.length)

  const deliveriesOf = () => admin<Deliveries>(`admin/webhooks/${id}/deliveries`)
  const ids = received.map((line) => Number(line?.[1])).toSorted((a, b) => a - b)
  await until(
    'both recorded',
    async () => (await deliveriesOf()).deliveries.every(({ state }) => state === 'successful'),
    [jobs],
  )
  const { deliveries } = await deliveriesOf()
  expect(deliveries.map(({ delivery_id }) => delivery_id).toSorted((a, b) => a - b)).toEqual(ids)
  expect(deliveries.map(({ event_id }) => event_id).toSorted()).toEqual(events.map((event) => event.id).toSorted())
  for (const { attempts } of deliveries)
    expect(attempts).toMatchObject([{ attempt: 1, outcome: 'success', status: 200 }])
  expect(receiver.lines()).toHaveLength(2)
  for (const output of [log(), jobs.output(), ingest.output()]) expect(output).not.toContain(secret)
})
