import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import { type IngestGap, insertIngestGaps } from '../../../../clickhouse/chain/gaps.js'
import { insertChainHead } from '../../../../clickhouse/chain/heads.js'
import { insertHistoryChange } from '../../../../clickhouse/chain/history-changes.js'
import { insertNodeCalls, type NodeCalls } from '../../../../clickhouse/chain/node-calls.js'
import { insertVerifyRun } from '../../../../clickhouse/chain/verify-runs.js'
import { SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'
import { insertJobRun, type JobRun } from '../../../../clickhouse/jobs/runs.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { readHealth } from '../../../../jobs/health/read-health.js'
import { isoSeconds } from '../../../../process/instants.js'
import { test } from '../../../support/app.js'
import { addRollback } from '../../../support/ledger.js'
import { addBlocks, txHash } from '../../../support/rows.js'

type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => never; payload: string }> }
type Status = {
  datasets: Array<{ dataset: string; lag_blocks: number | null; delay_1h: object; delay_24h: object }>
  gaps: object
  invariants: object | null
  jobs: Array<{
    job: string
    waiting_slots: number
    waiting_reason: string | null
    waiting_until: string | null
    is_late: boolean
    catch_up: object | null
  }>
}

const status = async (app: App): Promise<Status> => (await app.inject('/api/v1/status')).json()
const dataset = async (app: App, name: string) => (await status(app)).datasets.find((one) => one.dataset === name)
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
const seconds = (instant: Date): number => Math.floor(instant.getTime() / 1000)

/** The values in /metrics, by name and labels. */
const lines = async (app: App): Promise<Map<string, number>> =>
  new Map(
    (await app.inject('/metrics')).payload
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )

let rows = 0
/** A batch of one track whose facts are stored since `at`, in unix seconds. */
const committed = (clickhouse: ClickHouseClient, from_block: number, to_block: number, at: number, changes = {}) => {
  rows += 1
  const batch = {
    track: 'tip',
    sequence_number: rows,
    state: 'committed',
    from_block,
    to_block,
    writer: 'w',
    stables: [],
  }
  const families = ['catalogue', 'logs', 'pegs', 'state']
  const row = { ...batch, families, last_hash: txHash(to_block), recorded_at: at.toFixed(3), ...changes }
  return insertRows(clickhouse, 'ingest_batches', [row], `${rows}`)
}

const run = (job: string, slot_at: number, startedAt: number, changes: Partial<JobRun> = {}): JobRun => ({
  job,
  slot_at,
  revision: 0,
  state: 'done',
  result_rows: 0,
  error: '',
  started_at: startedAt.toFixed(3),
  duration_ms: 500,
  instance: 'i',
  ...changes,
})

/** A percentile as ClickHouse documents quantileExact: the element at that share of the sorted list. */
const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] as number

describe('an empty database', () => {
  test('has no values, which is not an error', async ({ app, clock }) => {
    const none = { count: 0, p50_seconds: null, p99_seconds: null }
    expect(await status(app)).toEqual({
      at: iso(seconds(clock.now)),
      head: null,
      newest_block: null,
      catalogue: null,
      datasets: ['logs', 'pegs', 'state', ...SLOT_JOBS.map(({ name }) => name).sort()].map((name) => ({
        dataset: name,
        newest_at: null,
        lag_blocks: null,
        lag_seconds: null,
        delay_1h: none,
        delay_24h: none,
      })),
      gaps: { missing_blocks: 0, declared_count: 0, declared: [] },
      forks: null,
      agreement: { blocks: 0, quotes: 0, differences: 0, disagreed: [] },
      unknown_events: { count: 0, newest: [] },
      node: null,
      storage: {
        least_free_share: expect.any(Number),
        replica_delay_seconds: null,
        readonly_tables: null,
        keeper_answers: null,
        replicas_away: null,
      },
      fees_kept_from: null,
      invariants: null,
      jobs: SLOT_JOBS.map(({ name, period_seconds }) => ({
        job: name,
        period_seconds,
        last_slot_at: null,
        last_success_at: null,
        lag_seconds: null,
        is_late: false,
        waiting_slots: 0,
        waiting_reason: null,
        waiting_until: null,
        catch_up: null,
        done_24h: 0,
        failed_24h: 0,
        median_ms_24h: null,
      })).sort((a, b) => (a.job < b.job ? -1 : 1)),
    })
  })
})

describe('a first start', () => {
  test('shows how far the past is read and how long the rest takes, until the first block is', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const now = seconds(clock.now)
    await insertChainHead(clickhouse, { tag: 'finalized', block_number: 43_000_000, block_time: now })
    const catalogue = { track: 'catalogue', families: ['catalogue'] }
    await committed(clickhouse, 1, 500_000, now - 300, catalogue)
    const about = async () =>
      ((await (await app.inject('/api/v1/status')).json()) as { catalogue: object | null }).catalogue
    expect(await about()).toEqual({
      block_number: 500_000,
      to_block: 43_000_000,
      blocks_per_second: null,
      eta_seconds: null,
    })
    await committed(clickhouse, 500_001, 1_000_000, now - 20, catalogue)
    await committed(clickhouse, 1_000_001, 3_000_000, now - 10, catalogue)
    clock.now = new Date(clock.now.getTime() + 5000)
    // 2,000,000 blocks in the ten seconds between the two.
    expect(await about()).toEqual({
      block_number: 3_000_000,
      to_block: 43_000_000,
      blocks_per_second: 200_000,
      eta_seconds: 200,
    })
    expect((await lines(app)).get('plumbline_catalogue_eta_seconds')).toBe(200)
    await committed(clickhouse, 3_000_001, 3_000_001, now)
    clock.now = new Date(clock.now.getTime() + 6000)
    expect(await about()).toBeNull()
  })
})

describe('ingest', () => {
  test('reports its lag behind the head in blocks and in seconds', async ({ app, clickhouse, clock }) => {
    const now = seconds(clock.now)
    await addBlocks(clickhouse, [now - 30, now - 20, now - 10])
    await insertChainHead(clickhouse, { tag: 'latest', block_number: 9, block_time: now - 2 })
    const answer = await status(app)
    expect(answer).toMatchObject({
      head: { tag: 'latest', block_number: 9, block_time: iso(now - 2) },
      newest_block: { block_number: 3, block_time: iso(now - 10) },
    })
    for (const name of ['logs', 'pegs', 'state'])
      expect(await dataset(app, name)).toMatchObject({ newest_at: iso(now - 10), lag_blocks: 6, lag_seconds: 10 })
    // A node that lags behind blocks that were read before.
    await insertChainHead(clickhouse, { tag: 'latest', block_number: 1, block_time: now })
    clock.now = new Date(clock.now.getTime() + 10_000)
    expect(await dataset(app, 'pegs')).toMatchObject({ lag_blocks: 0, lag_seconds: 20 })
  })

  test('that was stopped has an unknown lag in blocks, and one in seconds that grows with the clock', async ({
    app,
    clickhouse,
    clock,
  }) => {
    // The head is recorded at the time of the server.
    clock.now = new Date()
    const now = seconds(clock.now)
    await addBlocks(clickhouse, [now - 2, now - 1])
    expect(await dataset(app, 'logs')).toMatchObject({ lag_blocks: 0, lag_seconds: 1 })
    clock.now = new Date((now + 100) * 1000)
    for (const name of ['logs', 'pegs', 'state'])
      expect(await dataset(app, name)).toMatchObject({ lag_blocks: null, lag_seconds: 101 })
  })

  test('reports percentiles of its delay over the last hour and day, without older and rolled-back blocks', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const now = clock.now.getTime() / 1000
    // Pseudorandom numbers, the same in every run.
    const delays = Array.from({ length: 150 }, (_, i) => ((i * 7919) % 4001) / 1000)
    const ages = delays.map((_, i) => (i < 100 ? 3500 - i * 30 : i < 149 ? 80_000 - i * 100 : 90_000))
    const blocks = ages.map((age, i) => ({ age, delay: delays[i] as number })).sort((a, b) => b.age - a.age)
    const times = blocks.map(({ age }) => Math.floor(now) - age)
    await addBlocks(clickhouse, times)
    const ofHour: number[] = []
    const ofDay: number[] = []
    for (const [i, { age, delay }] of blocks.entries()) {
      const at = (times[i] as number) + delay
      await committed(clickhouse, i + 1, i + 1, at)
      if (age < 86_400) ofDay.push(delay)
      if (age < 3600) ofHour.push(delay)
    }
    // From a block that is no longer part of the chain, from a backfill, and a second time.
    await committed(clickhouse, 7, 7, now - 1, { last_hash: txHash(0xdead) })
    await committed(clickhouse, 8, 9, now - 1, { track: 'backfill' })
    await committed(clickhouse, 150, 150, now)
    const expected = (values: number[]) => ({
      count: values.length,
      p50_seconds: percentile(values, 0.5),
      p99_seconds: percentile(values, 0.99),
    })
    expect([ofHour.length, ofDay.length]).toEqual([100, 149])
    expect(await dataset(app, 'pegs')).toMatchObject({ delay_1h: expected(ofHour), delay_24h: expected(ofDay) })
  })
})

describe('the node', () => {
  const calls: NodeCalls = { ok: 100, limited: 0, too_large: 0, no_state: 0, late: 0, failed: 0, chain_changes: 0 }

  test.for<[Partial<NodeCalls>, string[]]>([
    [{}, []],
    [{ ok: 0 }, []],
    [{ ok: 0, failed: 9 }, ['away', 'fails']],
    [{ limited: 1 }, ['limits_rate']],
    [{ too_large: 1 }, ['limits_ranges']],
    [{ no_state: 1 }, ['drops_states']],
    [{ late: 11, failed: 11 }, []],
    [{ late: 20, failed: 10 }, ['late']],
    [{ late: 10, failed: 20 }, ['fails']],
    [{ chain_changes: 10 }, []],
    [{ chain_changes: 11, limited: 2 }, ['limits_rate', 'unsteady']],
  ])('whose calls end with %j has the problems %j', async ([changes, problems], { app, clickhouse, clock }) => {
    clock.now = new Date()
    const { chain_changes, ...calls_1m } = { ...calls, ...changes }
    await insertNodeCalls(clickhouse, { ...calls_1m, chain_changes })
    const answer = (await app.inject('/api/v1/status')).json() as { node: { noted_at: string } | null }
    expect(answer.node).toEqual({
      noted_at: expect.any(String),
      problems,
      calls_1m,
      chain_changes_1h: chain_changes,
    })
  })

  test('is not shown as it was long ago', async ({ app, clickhouse, clock }) => {
    await insertNodeCalls(clickhouse, calls)
    clock.now = new Date(Date.now() + 120_000)
    expect((await app.inject('/api/v1/status')).json()).toMatchObject({ node: null })
  })
})

describe('jobs', () => {
  test('report their lag behind the newest block, and the delay of their slots', async ({ app, clickhouse, clock }) => {
    const now = seconds(clock.now)
    await addBlocks(clickhouse, [now - 900, now - 300, now - 200, now - 100, now - 10])
    await insertChainHead(clickhouse, { tag: 'latest', block_number: 7, block_time: now })
    await insertJobRun(clickhouse, run('risk', now - 700, now - 690))
    await insertJobRun(clickhouse, run('risk', now - 200, now - 190, { state: 'failed', error: 'secret' }))
    await insertJobRun(clickhouse, run('risk', now - 200, now - 180, { duration_ms: 2000 }))
    await insertJobRun(clickhouse, run('peg-events', now - 100_000, now - 99_990))
    const answer = await status(app)
    expect(answer.datasets.find((one) => one.dataset === 'risk')).toEqual({
      dataset: 'risk',
      newest_at: iso(now - 200),
      // Two that are stored, and two that are not.
      lag_blocks: 4,
      lag_seconds: 200,
      delay_1h: { count: 2, p50_seconds: 22, p99_seconds: 22 },
      delay_24h: { count: 2, p50_seconds: 22, p99_seconds: 22 },
    })
    const job = (name: string) => answer.jobs.find(({ job }) => job === name)
    expect(job('risk')).toEqual({
      job: 'risk',
      period_seconds: 300,
      last_slot_at: iso(now - 200),
      last_success_at: iso(now - 178),
      lag_seconds: 190,
      is_late: false,
      waiting_slots: 0,
      waiting_reason: null,
      waiting_until: null,
      // The first one of the two was missed, because the job began with the second.
      catch_up: {
        due_slots: expect.any(Number),
        done_slots: 2,
        oldest_slot_at: expect.any(String),
        slots_per_second: null,
        eta_seconds: null,
      },
      done_24h: 2,
      failed_24h: 1,
      median_ms_24h: 2000,
    })
    expect(job('peg-events')).toMatchObject({ is_late: true, done_24h: 0, median_ms_24h: null })
    expect(await dataset(app, 'peg-events')).toMatchObject({
      lag_blocks: 7,
      delay_24h: { count: 0, p50_seconds: null },
    })
    expect(await dataset(app, 'reserves')).toMatchObject({ newest_at: null, lag_blocks: null, lag_seconds: null })
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  test('show how many slots wait for facts that are not read, and are not late because of them', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const hour = Math.floor(seconds(clock.now) / 3600) * 3600
    // A tip that began at block 100, and a backfill that has read the first blocks.
    await addBlocks(clickhouse, [hour - 3600, hour - 1, hour + 1], 100)
    await addBlocks(clickhouse, [hour - 7200, hour - 7190], 1)
    const { jobs } = await status(app)
    const waiting = jobs.map(({ job, waiting_slots, waiting_reason, is_late }) => [
      job,
      waiting_slots,
      waiting_reason,
      is_late,
    ])
    expect(waiting).toEqual([
      ['flow-anomalies', 8, 'history_not_read', false],
      ['holders', 1, 'blocks_missing', false],
      // Those of the second hour are due, and are late.
      ['peg-events', 30, 'blocks_missing', true],
      ['peg-tracks', 30, 'blocks_missing', true],
      ['reserves', 1, 'blocks_missing', false],
      ['risk', 12, 'blocks_missing', true],
      ['unusual-flows', 8, 'history_not_read', false],
    ])
    // The baseline is a week, and the window itself a quarter of an hour.
    const whole = isoSeconds(new Date((hour - 3600 + 7 * 86_400 + 900) * 1000))
    expect(jobs.map(({ waiting_until }) => waiting_until)).toEqual([
      whole,
      ...Array(5).fill(isoSeconds(new Date((hour - 3600) * 1000))),
      whole,
    ])
    const metrics = await lines(app)
    expect(metrics.get('plumbline_job_waiting_slots{job="flow-anomalies"}')).toBe(8)
  })

  test('that do slots again show how far they are, how fast, and how long the rest takes', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const now = seconds(clock.now)
    clock.now = new Date(now * 1000)
    const start = Math.floor(now / 300) * 300 - 3300
    await addBlocks(clickhouse, [start, start + 3001])
    const slot = (n: number): number => start + 300 * n
    const pass = async (slots: readonly number[], ended_at: number, revision: number): Promise<void> => {
      for (const n of slots)
        await insertJobRun(clickhouse, run('risk', slot(n), ended_at - 1, { revision, duration_ms: 1000 }))
    }
    const catchUp = async () => {
      clock.now = new Date(clock.now.getTime() + 10_000)
      return (await status(app)).jobs.find(({ job }) => job === 'risk')?.catch_up
    }
    await pass([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], now - 1000, 0)
    expect(await catchUp()).toBeNull()
    expect([...(await lines(app)).keys()].filter((name) => /risk/.test(name) && /eta|oldest/.test(name))).toEqual([])

    const change = { sequence_number: 1, backfill_sequence: 1, kept_time: slot(2), after_rollback: 0 }
    await insertHistoryChange(clickhouse, change)
    const begun = { due_slots: 9, done_slots: 0, oldest_slot_at: iso(slot(2)) }
    expect(await catchUp()).toEqual({ ...begun, slots_per_second: null, eta_seconds: null })
    // One pass has no speed: it is not known how long it took.
    await pass([2, 3, 4], now - 70, 1)
    const once = { due_slots: 6, done_slots: 3, oldest_slot_at: iso(slot(5)) }
    expect(await catchUp()).toEqual({ ...once, slots_per_second: null, eta_seconds: null })
    expect((await lines(app)).has('plumbline_job_eta_seconds{job="risk"}')).toBe(false)
    // One slot was recorded twice. The status is read 110 s after the end of the first pass.
    await pass([5, 6, 6], now - 10, 1)
    const twice = { due_slots: 4, done_slots: 5, oldest_slot_at: iso(slot(7)) }
    expect(await catchUp()).toEqual({ ...twice, slots_per_second: 0.018, eta_seconds: 220 })
    // A rollback meanwhile takes nothing from the progress, and a slot of the tip adds to it.
    await addRollback(clickhouse, 1, slot(9))
    await pass([10], now - 5, 2)
    const rolledBack = { due_slots: 3, done_slots: 6, oldest_slot_at: iso(slot(7)) }
    expect(await catchUp()).toEqual({ ...rolledBack, slots_per_second: 0.025, eta_seconds: 120 })
    const metrics = await lines(app)
    for (const [name, value] of [
      ['due_slots', 3],
      ['done_slots', 6],
      ['oldest_due_slot_timestamp_seconds', slot(7)],
      ['slots_per_second', 0.025],
      ['eta_seconds', 120],
    ])
      expect(metrics.get(`plumbline_job_${name}{job="risk"}`), `${name}`).toBe(value)
    // A job that stands still becomes slower, and then has no speed.
    clock.now = new Date(clock.now.getTime() + 160_000)
    expect(await catchUp()).toMatchObject({ slots_per_second: 0.01, eta_seconds: 290 })
    clock.now = new Date(clock.now.getTime() + 300_000)
    expect(await catchUp()).toEqual({ ...rolledBack, slots_per_second: null, eta_seconds: null })
  })
})

test('fees that may be let go of are named by the time before which they are', async ({ app, clickhouse, clock }) => {
  clock.now = new Date()
  await insertRows(clickhouse, 'retentions', [{ table_name: 'fees_paid', days: 30 }], 'thirty days')
  const { fees_kept_from } = (await app.inject('/api/v1/status')).json() as { fees_kept_from: string }
  const days = (clock.now.getTime() - Date.parse(fees_kept_from)) / 86_400_000
  // What is due goes within a day.
  expect(days).toBeCloseTo(29, 1)
  expect((await lines(app)).get('plumbline_fees_let_go_until_timestamp_seconds')).toBe(
    Date.parse(fees_kept_from) / 1000,
  )
})

describe('missing data', () => {
  const gap = (family: IngestGap['family'], from_block: number, to_block: number, reason = 'pruned'): IngestGap => ({
    family,
    from_block,
    to_block,
    reason,
  })

  test('are blocks between stored ones, and ranges that could not be read and were not filled since', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const now = seconds(clock.now)
    await addBlocks(clickhouse, [now - 90, now - 80], 11)
    await addBlocks(clickhouse, [now - 20, now - 10], 23)
    await insertIngestGaps(clickhouse, [
      gap('pegs', 1, 100),
      gap('pegs', 101, 200),
      gap('pegs', 401, 500, 'another reason'),
      gap('pegs', 601, 700),
      gap('state', 601, 700),
      gap('logs', 601, 700),
    ])
    // Part of a gap, one of its stables, or another family: none of them closes it.
    await committed(clickhouse, 1, 50, now, { track: 'backfill', families: ['pegs'] })
    await committed(clickhouse, 401, 500, now, { track: 'backfill', families: ['pegs'], stables: ['0xa'] })
    await committed(clickhouse, 401, 500, now, { track: 'backfill', families: ['state'] })
    // Two adjacent ranges that together cover all of one gap.
    await committed(clickhouse, 550, 649, now, { track: 'backfill', families: ['pegs', 'logs'] })
    await committed(clickhouse, 650, 700, now, { track: 'backfill 2', families: ['pegs', 'logs'] })
    const declared = [
      { dataset: 'logs', from_block: 601, to_block: 700, reason: 'pruned' },
      { dataset: 'pegs', from_block: 1, to_block: 200, reason: 'pruned' },
      { dataset: 'pegs', from_block: 401, to_block: 500, reason: 'another reason' },
      { dataset: 'state', from_block: 601, to_block: 700, reason: 'pruned' },
    ]
    expect((await status(app)).gaps).toEqual({ missing_blocks: 10, declared_count: 4, declared })

    // /metrics and the health monitor count the same blocks: those of the gaps that are still open.
    // The logs were read later, but flows without a value do not get one.
    const blocks = { logs: 100, pegs: 250, state: 100 }
    const metrics = Object.fromEntries(await lines(app))
    const health = await readHealth(clickhouse, SLOT_JOBS, { now: clock.now, maxSamplingLagSeconds: 60 })
    for (const [dataset, missing_blocks] of Object.entries(blocks)) {
      expect(metrics[`plumbline_gap_blocks{dataset="${dataset}"}`]).toBe(missing_blocks)
      expect(health?.datasets).toContainEqual({ dataset, missing_blocks })
    }
    expect(health?.datasets).toContainEqual({ dataset: 'blocks', missing_blocks: 10 })
  })
})

test('the newest check is shown in its order, without the differing rows', async ({ app, clickhouse, clock }) => {
  const now = seconds(clock.now)
  const at = (age: number): Date => new Date((now - age) * 1000)
  const match = { what: 'b', status: 'match', scope: '7 rows', differences: [] } as const
  const mismatch = { what: 'a', status: 'mismatch', scope: '7 rows', differences: ['missing: {}'] } as const
  await insertVerifyRun(clickhouse, { started_at: at(90), ended_at: at(60), findings: [match, mismatch] })
  await insertVerifyRun(clickhouse, { started_at: at(900), ended_at: at(600), findings: [mismatch] })
  expect((await status(app)).invariants).toEqual({
    started_at: iso(now - 90),
    ended_at: iso(now - 60),
    findings: [match, mismatch].map(({ what, status, scope }) => ({ what, status, scope })),
  })
})

describe('metrics', () => {
  test('have the same values, and leave out unknown ones', async ({ app, clickhouse, clock }) => {
    const now = seconds(clock.now)
    const empty = await lines(app)
    expect(empty.get('plumbline_clickhouse_up')).toBe(1)
    expect([...empty.keys()].filter((name) => /^plumbline_(head|newest|dataset|job|verify)/.test(name))).toEqual([])

    await addBlocks(clickhouse, [now - 30, now - 20])
    await insertChainHead(clickhouse, { tag: 'latest', block_number: 9, block_time: now - 2 })
    await committed(clickhouse, 1, 2, now - 18)
    await insertJobRun(clickhouse, run('risk', now - 25, now - 24))
    await insertJobRun(clickhouse, run('risk', now - 300, now - 299, { state: 'failed' }))
    await insertIngestGaps(clickhouse, [{ family: 'state', from_block: 3, to_block: 42, reason: 'pruned' }])
    const differences: string[] = []
    const findings = ['a', 'b'].map((what) => ({ what, status: 'match' as const, scope: '', differences }))
    await insertVerifyRun(clickhouse, { started_at: clock.now, ended_at: new Date(now * 1000), findings })
    clock.now = new Date(clock.now.getTime() + 60_000)
    expect(Object.fromEntries(await lines(app))).toMatchObject({
      plumbline_head_block: 9,
      plumbline_newest_block: 2,
      'plumbline_dataset_lag_blocks{dataset="pegs"}': 7,
      'plumbline_dataset_lag_seconds{dataset="pegs"}': 80,
      'plumbline_dataset_lag_blocks{dataset="risk"}': 8,
      'plumbline_dataset_delay_seconds{dataset="pegs",quantile="0.5"}': 2,
      'plumbline_gap_blocks{dataset="state"}': 40,
      plumbline_missing_blocks: 0,
      'plumbline_job_lag_seconds{job="risk"}': 5,
      'plumbline_job_last_success_timestamp_seconds{job="risk"}': now - 24,
      'plumbline_job_runs_total{job="risk",state="done"}': 1,
      'plumbline_job_runs_total{job="risk",state="failed"}': 1,
      'plumbline_verify_findings{status="match"}': 2,
      plumbline_verify_timestamp_seconds: now,
      'plumbline_clickhouse_query_duration_seconds_count{query="chain_head",outcome="ok"}': 2,
    })
  })
})
