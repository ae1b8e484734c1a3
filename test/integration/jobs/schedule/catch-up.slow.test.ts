import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { ingestAll } from '../../../support/ingest.js'
import { jobsDone, startJobs } from '../../../support/jobs/process.js'
import { test, withDatabase } from '../../../support/services.js'

/** The tables that the jobs write, by job. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  'peg-events': ['peg_breaks'],
  'peg-tracks': ['peg_breaks', 'peg_track_states'],
  risk: ['risk_snapshots', 'extended_snapshots'],
  reserves: ['reserve_snapshots'],
  'flow-anomalies': ['flow_anomalies'],
  // What it finds is in the log of events alone.
  'unusual-flows': [],
  // What it keeps changes no answer, and a few hours have too few transfers for it.
  holders: [],
}
const HOUR = 3600
/** The jobs stand still for all of them but the first. */
const HOURS = depth('PAUSE_HOURS', 3, 7)
const BLOCK_SECONDS = 60

const chain = useStillChain({ historyBlocks: (HOURS * HOUR) / BLOCK_SECONDS, blockSeconds: BLOCK_SECONDS })

const rowsOf = async <Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()

/** Adds the facts of another database with `after` < time <= `to`, the blocks last, as ingest does. */
async function copyFacts(clickhouse: ClickHouseClient, from: string, after: number, to: number): Promise<void> {
  for (const table of [...factTables.filter((table) => table !== 'blocks'), 'blocks'])
    await clickhouse.command({
      query: `INSERT INTO ${table} SELECT * FROM ${from}.${table} WHERE block_time > ${after} AND block_time <= ${to}`,
    })
}

/** The contents of the jobs' tables, as readers see them, except when they were written. */
async function outputs(clickhouse: ClickHouseClient): Promise<Record<string, unknown[]>> {
  const tables = Object.values(OUTPUTS).flat()
  const read = (table: string) =>
    rowsOf(
      clickhouse,
      `SELECT ${table.endsWith('_snapshots') ? '* EXCEPT published_at' : '*'} FROM ${table} FINAL ORDER BY ALL`,
    )
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await read(table)])))
}

type Span = { first: number; last: number }

/** Runs jobs hour by hour, except in the hours of `pause`, in which facts are added and the jobs are stopped. */
async function runHours(facts: string, { first, last }: Span, pause: { from: number; to: number } | null) {
  return withDatabase(async (env: ClickHouseEnv, clickhouse) => {
    let jobs = startJobs(env, {}, SLOT_JOBS)
    let copied = 0
    for (let hour = 1; copied < last; hour++) {
      const to = Math.min(first + hour * HOUR, last)
      await copyFacts(clickhouse, facts, copied, to)
      copied = to
      if (pause && hour > pause.from && hour < pause.to) continue
      if (jobs.child.exitCode !== null) jobs = startJobs(env, {}, SLOT_JOBS)
      await jobsDone(clickhouse, jobs, 240, SLOT_JOBS)
      if (hour === pause?.from) await jobs.kill('SIGTERM')
    }
    await jobs.kill('SIGTERM')
    const done = await rowsOf<{ job: string; slots: number }>(
      clickhouse,
      "SELECT job, toUInt32(uniqExact(slot_at)) AS slots FROM job_runs WHERE state = 'done' GROUP BY job",
    )
    return { rows: await outputs(clickhouse), done: Object.fromEntries(done.map(({ job, slots }) => [job, slots])) }
  })
}

test('jobs that were stopped for hours write the same rows as jobs that never stopped', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const [span] = await rowsOf<Span>(
    clickhouse,
    'SELECT toUnixTimestamp(min(block_time)) AS first, toUnixTimestamp(max(block_time)) AS last FROM blocks',
  )
  const { first, last } = span as Span
  const undisturbed = await runHours(clickhouseEnv.CLICKHOUSE_DATABASE, { first, last }, null)
  const paused = await runHours(clickhouseEnv.CLICKHOUSE_DATABASE, { first, last }, { from: 1, to: HOURS })
  expect(paused).toEqual(undisturbed)
  for (const table of ['peg_breaks', 'risk_snapshots', 'extended_snapshots', 'reserve_snapshots'])
    expect(undisturbed.rows[table], table).not.toEqual([])
  for (const { name, period_seconds, after } of SLOT_JOBS) {
    // A slot waits for a slot at or after it of every job that its job reads.
    const read = SLOT_JOBS.filter((job) => after?.includes(job.name))
    const end = Math.min(
      last,
      ...read.map((job) => Math.floor((last - 1) / job.period_seconds) * job.period_seconds + 1),
    )
    let slots = 0
    for (let at = first + 1; at < end; at++) if (at % period_seconds === 0) slots++
    expect(undisturbed.done[name], name).toBe(slots)
    expect(Object.keys(OUTPUTS)).toContain(name)
  }
}, 1_200_000)
