import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { createServiceState } from '../../../api/service/service-state.js'
import { stateMetrics } from '../../../api/service/state-metrics.js'
import { insertForkSchedule } from '../../../clickhouse/chain/forks.js'
import { insertIngestGaps } from '../../../clickhouse/chain/gaps.js'
import { insertVerifyRun } from '../../../clickhouse/chain/verify-runs.js'
import { insertJobRun } from '../../../clickhouse/jobs/runs.js'
import { createBackfillMetrics, createIngestMetrics } from '../../../ingest/metrics.js'
import { Memories } from '../../../process/memory.js'
import { readyApi } from '../../support/api-server.js'
import { stillChain } from '../../support/chain.js'
import { type IngestProcess, ingestedTo, startIngest } from '../../support/ingest.js'
import { startJobs, until } from '../../support/jobs/process.js'
import { metricNames } from '../../support/metrics.js'
import type { TestChain } from '../../support/own-chain.js'
import { test } from '../../support/services.js'

const deploy = new URL('../../../deploy/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, deploy), 'utf8')

type Target = { expr?: string }
type Dashboard = { panels: { title: string; targets: Target[] }[] }
const dashboards = readdirSync(new URL('grafana/dashboards/', deploy)).map(
  (name) => JSON.parse(read(`grafana/dashboards/${name}`)) as Dashboard,
)
const panels = dashboards.flatMap(({ panels }) => panels)
const alerts = (
  parse(read('prometheus/alerts.yml')) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap(({ rules }) => rules)

/** The metrics that an expression reads, except those that Prometheus makes itself. */
const namedIn = (expr: string): string[] => expr.match(/\b(plumbline|process|nodejs)_\w+/g) ?? []

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 120 })
})
afterAll(() => chain?.remove())

/** What a process serves at its port for metrics. */
async function servedBy(process: IngestProcess): Promise<string> {
  onTestFinished(() => process.kill('SIGKILL'))
  const logged = /"url":"(http:[^"]+)","msg":"serving metrics"/
  await until('metrics are served', () => logged.test(process.output()), [process])
  return (await fetch(`${logged.exec(process.output())?.[1]}/metrics`)).text()
}

test('every metric that a dashboard or an alert names is served', async ({ clickhouse, clickhouseEnv }) => {
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl, { INGEST_METRICS_PORT: '0' })
  await ingestedTo(clickhouse, chain.head, ingest)
  const ofIngest = await servedBy(ingest)
  const ofJobs = await servedBy(startJobs(clickhouseEnv, { JOBS_METRICS_PORT: '0' }))

  const now = new Date()
  await insertIngestGaps(clickhouse, [{ family: 'state', from_block: 3, to_block: 4, reason: 'pruned' }])
  // The local chain's node does not list its forks.
  await insertForkSchedule(clickhouse, { schedule: [], active: 'T12', unhandled: [] })
  const finding = { what: 'a', status: 'match' as const, scope: '', differences: [] }
  await insertVerifyRun(clickhouse, { started_at: now, ended_at: now, findings: [finding] })
  const run = { job: 'risk', slot_at: 0, revision: 1, instance: 'test', started_at: now.toISOString(), duration_ms: 1 }
  await insertJobRun(clickhouse, { ...run, state: 'failed', result_rows: 0, error: 'a reason' })
  const { url } = await readyApi(clickhouseEnv)
  const ofApi = await (await fetch(new URL('/metrics', url))).text()

  // What neither this server nor a run of seconds has: replicas, webhooks that were sent, a long first start, jobs that
  // are behind, and a backfill.
  const state = await createServiceState(clickhouse, new Memories(), () => now).read()
  const webhooks = {
    ...state.webhooks,
    attempts: [{ outcome: 'refused' as const, status_class: 4, attempts: 1 }],
    dispatch: { count: 1, p50_seconds: 1, p99_seconds: 2 },
  }
  const replicas = { most_delay_seconds: 1, queued: 0, readonly_tables: 0, keeper_answers: true, away: 0 }
  const catalogue = { block_number: 1, to_block: 9, blocks_per_second: 1, eta_seconds: 8 }
  const catch_up = { slots: 2, done: 1, oldest_at: now, slots_per_second: 1, eta_seconds: 2 }
  const jobs = state.jobs.map((job) => ({ ...job, waiting: null, due: 2, catch_up }))
  const rare = await stateMetrics(
    { ...state, webhooks, catalogue, jobs, fees_let_go_until: 1 },
    { disks: [], parts: [], replicas },
  )
  const backfill = createIngestMetrics()
  createBackfillMetrics(backfill, 1)

  const served = new Set([ofIngest, ofJobs, ofApi, rare, await backfill.registry.metrics()].flatMap(metricNames))
  const unknown = (text = ''): string[] => namedIn(text).filter((name) => !served.has(name))
  for (const { title, targets } of panels)
    expect(
      targets.flatMap(({ expr }) => unknown(expr)),
      title,
    ).toEqual([])
  for (const { alert, expr } of alerts) expect(unknown(expr), alert).toEqual([])
})
