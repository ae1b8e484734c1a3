import { serializerCompiler as zodSerializerCompiler } from 'fastify-type-provider-zod'
import { expect, vi } from 'vitest'
import { insertFlowAnomalies } from '../../../../clickhouse/flows/anomalies.js'
import { insertJobRun } from '../../../../clickhouse/jobs/runs.js'
import { addDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import { detectPegEvents } from '../../../../jobs/detect/peg-events.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { ADMIN_KEY, SUBSCRIPTION_KEY } from '../../../support/app.js'
import { cachedApp } from '../../../support/cached-app.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { addApiKey } from '../../../support/keys.js'
import { snapshotFacts } from '../../../support/oracle/snapshot-facts.js'
import { test } from '../../../support/services.js'
import { alone, runSlots, slotsOf } from '../../../support/slots.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import { madeUpDelivery } from '../../../support/webhooks.js'

const BLOCKS = 60

const { compared } = vi.hoisted(() => ({ compared: [] as { url: string; ours: string; zod: string }[] }))

// Every answer is serialized twice: as it is sent, and by zod, which also checks it against its schema.
vi.mock('../../../../api/http/compilers.js', async (original) => {
  const module = await original<typeof import('../../../../api/http/compilers.js')>()
  const both: typeof module.serializerCompiler = (route) => {
    const serialize = module.serializerCompiler(route)
    const byZod = zodSerializerCompiler(route) as (value: unknown) => string
    return (value) => {
      const ours = serialize(value)
      compared.push({ url: route.url, ours, zod: byZod(value) })
      return ours
    }
  }
  return { ...module, serializerCompiler: both }
})

const chain = useStillChain({ historyBlocks: BLOCKS, blockSeconds: 240, seed: 11 })

test('every answer has the bytes that zod would write', async ({ clickhouseEnv, clickhouse }) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const { start, samples, stables } = await snapshotFacts(clickhouse)
  const end = Math.max(...[...samples.values()].flat().map(({ t }) => t))
  for (const job of [
    { job: 'peg-events', periodSeconds: 120, task: alone(detectPegEvents) },
    { job: 'risk', periodSeconds: 300, task: snapshotRisk },
    { job: 'reserves', periodSeconds: 3600, task: snapshotReserves },
  ])
    await runSlots(clickhouse, job, slotsOf(job, Math.max(start, end - 3600), end))
  const [from_token, to_token] = stables.map(({ stable }) => stable) as [string, string]
  const window_start = Math.floor(end / 900) * 900 - 900
  const sums = {
    observed_micros: '12345678',
    tx_count: 3,
    bucket_count: 672,
    observation_count: 20,
    baseline_sum: '1000',
    baseline_square_sum: '90000',
    kind: 'surge' as const,
    silent_windows: 0,
    longest_silence: 0,
    usual_windows: 0,
    usual_active: 0,
  }
  await insertFlowAnomalies(
    clickhouse,
    [{ from_token, to_token, window_start, revision: 0, is_deleted: 0, ...sums }],
    'anomaly',
  )
  const run = { revision: 0, state: 'done' as const, result_rows: 1, error: '', started_at: '2026-01-01 00:00:00.000' }
  await insertJobRun(clickhouse, {
    job: 'flow-anomalies',
    slot_at: window_start + 900,
    duration_ms: 0,
    instance: 'test',
    ...run,
  })

  await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
  const { id } = await addWebhookSubscription(clickhouse)
  await addDeliveries(clickhouse, [madeUpDelivery(1, id)])
  const app = await cachedApp(clickhouse, {
    now: () => new Date((end + 30) * 1000),
    nowMs: () => 0,
  })
  const get = (url: string) => {
    const key = url.startsWith('/api/admin') ? ADMIN_KEY : SUBSCRIPTION_KEY
    return app.inject({ url, headers: { authorization: `Bearer ${key}` } })
  }
  const document = (await get('/openapi.json')).json() as {
    paths: Record<string, { get?: { responses: Record<string, { content?: Record<string, unknown> }> } }>
  }
  const paths = Object.entries(document.paths).flatMap(([path, { get: operation }]) => {
    const media = Object.keys(operation?.responses[200]?.content ?? {})
    return media.length === 1 && media[0] === 'application/json' ? [path] : []
  })
  expect(paths.length).toBeGreaterThan(13)
  const some = stables.slice(0, 5).map(({ stable }) => stable)
  for (const path of paths) {
    const isOfRange = path.endsWith('/history') || path.endsWith('/series')
    const query = isOfRange ? `?from=${end - 7200}&to=${end}` : ''
    const pasts = ['', `?as_of=${end - 600}`, `?as_of=${end - 3600}`]
    const about = path.includes('{address}') ? some : ['']
    for (const stable of about) {
      for (const past of query ? [query] : pasts) {
        const url = path.replace('{address}', stable).replace('{id}', id) + past
        const { statusCode, body } = await get(url)
        // A route without as_of returns 400, and one whose job has not yet processed a stable returns 404.
        expect([200, 400, 404], `${url}: ${body}`).toContain(statusCode)
      }
    }
  }
  expect(
    [...new Set(compared.map(({ url }) => url.replace(/:(\w+)/, '{$1}').replace(/(.)\/$/, '$1')))].toSorted(),
  ).toEqual(paths.toSorted())
  for (const { url, ours, zod } of compared) expect(ours, url).toBe(zod)
})
