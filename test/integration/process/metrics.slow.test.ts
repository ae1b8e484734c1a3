import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { startBackfill } from '../../support/backfill.js'
import { stillChain } from '../../support/chain.js'
import { heldNode } from '../../support/held-node.js'
import { type IngestProcess, ingestAll, ingestedTo, startIngest } from '../../support/ingest.js'
import { startJobs, until } from '../../support/jobs/process.js'
import { metricValue } from '../../support/metrics.js'
import type { TestChain } from '../../support/own-chain.js'
import { test } from '../../support/services.js'

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 120 })
})
afterAll(() => chain?.remove())

const METRICS = 'a-token-of-the-tests-that-is-long-enough'

/** Where a process serves its metrics, once it has logged that. */
async function metricsOf(process: IngestProcess): Promise<string> {
  const logged = /"url":"(http:[^"]+)","msg":"serving metrics"/
  await until('metrics are served', () => logged.test(process.output()), [process])
  return logged.exec(process.output())?.[1] ?? ''
}

const read = async (url: string) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS}` } })).text()

test('ingest serves its own metrics, to holders of the token only, and whether it can work', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl, { METRICS, INGEST_METRICS_PORT: '0' })
  onTestFinished(() => ingest.kill('SIGKILL'))
  const url = await metricsOf(ingest)
  expect((await fetch(`${url}/health/live`)).status).toBe(200)
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  expect((await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS}x` } })).status).toBe(401)
  await ingestedTo(clickhouse, chain.head, ingest)
  await expect
    .poll(async () => metricValue(await read(url), 'plumbline_ingest_head_lag_blocks'), { timeout: 240_000 })
    .toBe(0)
  const text = await read(url)
  expect(metricValue(text, 'plumbline_ingest_newest_block')).toBe(chain.head)
  expect(metricValue(text, 'plumbline_ingest_head_block')).toBe(chain.head)
  expect(metricValue(text, 'plumbline_ingest_blocks_total')).toBe(chain.head)
  expect(text).toMatch(/^plumbline_rpc_duration_seconds_count\{method="eth_getLogs",outcome="ok"\} [1-9]/m)
  expect(text).toMatch(/^plumbline_clickhouse_query_duration_seconds_count\{.*outcome="ok"\} [1-9]/m)
  const ready = await fetch(`${url}/health/ready`)
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok' }])
})

test('without ClickHouse a process is alive, and not ready', async () => {
  const jobs = startJobs(
    { CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_USER: 'x', CLICKHOUSE_PASSWORD: '', CLICKHOUSE_DATABASE: 'x' },
    { METRICS: 'off', JOBS_METRICS_PORT: '0' },
  )
  onTestFinished(() => jobs.kill('SIGKILL'))
  const url = await metricsOf(jobs)
  expect((await fetch(`${url}/health/live`)).status).toBe(200)
  expect((await fetch(`${url}/metrics`)).status).toBe(404)
  const ready = await fetch(`${url}/health/ready`)
  expect(ready.status).toBe(503)
  expect(await ready.json()).toEqual({ status: 'not ready', reason: expect.stringContaining('ECONNREFUSED') })
})

test('the jobs say which process runs them', async ({ clickhouseEnv }) => {
  const env = { METRICS, JOBS_METRICS_PORT: '0', JOBS_LEASE_SECONDS: '10' }
  const held = async (url: string) => metricValue(await read(url), 'plumbline_jobs_lease_held')
  const first = startJobs(clickhouseEnv, env)
  onTestFinished(() => first.kill('SIGKILL'))
  const url = await metricsOf(first)
  await expect.poll(() => held(url), { timeout: 240_000 }).toBe(1)
  const second = startJobs(clickhouseEnv, env)
  onTestFinished(() => second.kill('SIGKILL'))
  const other = await metricsOf(second)
  expect(await held(other)).toBe(0)
  await first.kill('SIGKILL')
  await expect.poll(() => held(other), { timeout: 240_000 }).toBe(1)
})

test('a backfill shows how far it is, and when it will be done', async ({ clickhouse, clickhouseEnv }) => {
  const START_BLOCK = '40'
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head, { START_BLOCK })
  const env = { METRICS, BACKFILL_METRICS_PORT: '0', BATCH_BLOCKS: '2' }
  // The last segment waits, so that the backfill is not over before it was looked at.
  let shown = () => {}
  const isShown = new Promise<void>((resolve) => {
    shown = resolve
  })
  let isHeld = false
  const node = await heldNode(chain.rpcUrl, '"fromBlock":"0x26"', async (pass) => {
    isHeld = true
    await isShown
    await pass()
  })
  onTestFinished(() => node.close())
  const backfill = startBackfill(clickhouseEnv, node.url, [], env)
  onTestFinished(() => backfill.kill('SIGKILL'))
  const url = await metricsOf(backfill)
  let text = ''
  await expect
    .poll(
      async () => {
        text = await read(url)
        return metricValue(text, 'plumbline_backfill_eta_seconds')
      },
      { timeout: 240_000, interval: 10 },
    )
    .toBeGreaterThan(0)
  shown()
  expect(metricValue(text, 'plumbline_backfill_blocks')).toBe(39)
  expect(metricValue(text, 'plumbline_backfill_done_blocks')).toBeGreaterThan(0)
  expect(await backfill.exited).toMatchObject({ code: 0 })
  expect(isHeld).toBe(true)
})
