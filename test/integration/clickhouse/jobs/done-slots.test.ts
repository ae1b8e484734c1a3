import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { readDoneSlots } from '../../../../clickhouse/jobs/done-slots.js'
import { type JobName, PERIOD_SECONDS } from '../../../../clickhouse/jobs/periods.js'
import { insertJobRuns, jobProgress, jobRuns, jobStatuses } from '../../../../clickhouse/jobs/runs.js'
import { readSearches } from '../../../../clickhouse/jobs/searches.js'
import { dueSlots } from '../../../../clickhouse/jobs/slots.js'
import { DAY_SECONDS, END_OF_TIME } from '../../../../process/instants.js'
import { randoms } from '../../../support/randoms.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

/** Times in unix seconds; a run ends in the second after it started. */
type Run = { job: JobName; slot_at: number; revision: number; state: 'done' | 'failed'; at: number }
type Rollback = { revision: number; kept_time: number; at: number }

const JOBS: readonly JobName[] = ['flow-anomalies', 'risk']
const START = 1_772_323_200
const DAYS = 9

/** Runs as jobs leave them, with what happens rarely: failures, slots that are left out and done later, rollbacks. */
function randomRuns(seed: number) {
  const random = randoms(seed)
  const runs: Run[] = []
  const rollbacks: Rollback[] = []
  for (const job of JOBS) {
    const period = PERIOD_SECONDS[job]
    const leftOut: number[] = []
    for (let slot_at = START + period * 5; slot_at <= START + DAYS * DAY_SECONDS - 40_000; slot_at += period) {
      const day = Math.floor((slot_at - START) / DAY_SECONDS)
      const at = slot_at + random(20)
      const revision = rollbacks.filter((one) => one.at < at).length
      if (random(200) === 0) runs.push({ job, slot_at, revision, state: 'failed', at })
      // Two days have a hole that stays, and one has one that is filled two days later.
      const isHole = (day === 2 || day === 5) && slot_at % DAY_SECONDS === 54_000
      if (day === 3 && slot_at % DAY_SECONDS === 18_000) leftOut.push(slot_at)
      else if (!isHole) runs.push({ job, slot_at, revision, state: 'done', at })
      if (random(300) === 0) runs.push({ job, slot_at, revision, state: 'done', at: at + 1 })
      if (slot_at === START + 5 * DAY_SECONDS + 900)
        for (const late of leftOut) runs.push({ job, slot_at: late, revision, state: 'done', at })
      // Each takes back what is after the middle of a day, of which all is done again, or all but a little.
      for (const [n, on] of [4, 6, 7].entries()) {
        if (slot_at !== START + on * DAY_SECONDS + 80_100) continue
        const kept_time = START + (on - 1) * DAY_SECONDS + 43_217
        if (job === JOBS[0]) rollbacks.push({ revision: n + 1, kept_time, at: at + 2 })
        for (let again = slot_at; again >= kept_time; again -= 1) {
          if (again % period !== 0 || (n === 1 && again % DAY_SECONDS === 21_600)) continue
          runs.push({ job, slot_at: again, revision: n + 1, state: 'done', at: slot_at + 40 + random(90) })
        }
      }
    }
  }
  const end = START + DAYS * DAY_SECONDS
  const instants = [2.5, 3.99, 4.935, 5.02, 6.93, 8, 9].map((days) => START + Math.floor(days * DAY_SECONDS))
  return { runs, rollbacks, instants, end }
}

/** The definition of the slots that are done, over all runs. */
function doneBy(job: JobName, runs: readonly Run[], rollbacks: readonly Rollback[], until: number): number[] {
  const neededAt = (slot: number) =>
    Math.max(0, ...rollbacks.filter(({ kept_time, at }) => kept_time <= slot && at <= until).map((one) => one.revision))
  const done = runs.filter(
    (run) => run.job === job && run.state === 'done' && run.at + 1 <= until && run.revision >= neededAt(run.slot_at),
  )
  return [...new Set(done.map(({ slot_at }) => slot_at))].sort((a, b) => a - b)
}

function stretchesOf(slots: readonly number[], period: number) {
  const stretches: Array<{ from: number; until: number }> = []
  for (const slot of slots) {
    const last = stretches.at(-1)
    if (last?.until === slot - period) last.until = slot
    else stretches.push({ from: slot - period, until: slot })
  }
  return stretches
}

async function store(clickhouse: ClickHouseClient, runs: readonly Run[]): Promise<void> {
  const rows = runs.map(({ at, ...run }) => ({
    ...run,
    result_rows: 1,
    error: '',
    started_at: `${at}.000`,
    duration_ms: 1000,
    instance: 'test',
  }))
  await clickhouse.insert({ table: 'job_runs', values: rows, format: 'JSONEachRow' })
}

test('which slots are done, by now and at any instant, is what every single run says', async ({ clickhouse }) => {
  const { runs, rollbacks, instants, end } = randomRuns(7)
  // The older half is in parts without a summary.
  await store(clickhouse, runs.slice(0, runs.length / 2))
  await clickhouse.command({ query: 'ALTER TABLE job_runs CLEAR PROJECTION days SETTINGS mutations_sync = 1' })
  await store(clickhouse, runs.slice(runs.length / 2))
  await addBlocks(clickhouse, [START, end], 1)
  const undone = rollbacks.flatMap(({ revision, kept_time, at }) =>
    ['planned', 'done'].map((state) => ({
      sequence_number: revision,
      state,
      kept_block: 1,
      kept_hash: '0x',
      kept_time,
      removed_to: 2,
      after_sequence: 1,
      reason: 'test',
      writer: 'test',
      recorded_at: `${at}.000`,
    })),
  )
  await clickhouse.insert({ table: 'ingest_rollbacks', values: undone, format: 'JSONEachRow' })

  for (const job of JOBS) {
    const period_seconds = PERIOD_SECONDS[job]
    for (const until of [...instants, null]) {
      const known_at = until === null ? null : new Date(until * 1000)
      const done = doneBy(job, runs, rollbacks, until ?? END_OF_TIME)
      const { stretches } = await readSearches(clickhouse, { job, known_at })
      expect(stretches, `${job} at ${until}`).toEqual(stretchesOf(done, period_seconds))
      const [from_time, to_time] = [START + 1234, end - 4321]
      const slots = await readDoneSlots(clickhouse, { jobs: [{ name: job, period_seconds }], from_time, known_at })
      const due = dueSlots(slots, { job, period_seconds, from_time, to_time, limit: 10_000 })
      const isDone = new Set(done)
      const expected: number[] = []
      for (let slot = START; slot < to_time; slot += period_seconds)
        if (slot > from_time && !isDone.has(slot)) expected.push(slot)
      expect(due, `${job} at ${until}`).toEqual(expected)
    }
    const before = await readSearches(clickhouse, { job, known_at: new Date((instants.at(-2) ?? 0) * 1000) })
    const all = await readSearches(clickhouse, { job })
    expect(await readSearches(clickhouse, { job, before })).toEqual(all)
  }
})

test('what is shown of jobs is what every single run says', async ({ clickhouse }) => {
  const { runs, instants, end } = randomRuns(11)
  await store(clickhouse, runs.slice(0, runs.length / 2))
  await clickhouse.command({ query: 'ALTER TABLE job_runs CLEAR PROJECTION days SETTINGS mutations_sync = 1' })
  await store(clickhouse, runs.slice(runs.length / 2))
  await addBlocks(clickhouse, [START, end], 1)
  const most = (values: readonly number[]): number => Math.max(...values)
  const names = [...JOBS].sort()
  const doneOf = (job: JobName) => runs.filter((run) => run.job === job && run.state === 'done')

  for (const until of instants) {
    const expected = names
      .filter((job) => doneOf(job).some(({ at }) => at + 1 > until))
      .map((job) => {
        const before = doneOf(job).filter(({ at }) => at + 1 <= until)
        const newest = most(doneOf(job).map(({ slot_at }) => slot_at))
        return { job, gained_seconds: newest - most(before.map(({ slot_at }) => slot_at)) }
      })
    expect(await jobProgress(clickhouse, { since: new Date(until * 1000) })).toEqual(expected)
  }

  expect(await jobStatuses(clickhouse, { jobs: names })).toEqual(
    names.map((job) => {
      const newest = most(doneOf(job).map(({ slot_at }) => slot_at))
      return {
        job,
        last_slot_at: new Date(newest * 1000),
        last_success_at: new Date((most(doneOf(job).map(({ at }) => at)) + 1) * 1000),
        lag_seconds: end - newest,
      }
    }),
  )

  const now = new Date((end - 50_000) * 1000)
  const isNew = ({ at }: Run) => at + 1 > end - 50_000 - DAY_SECONDS
  // What is recorded as done once more under a revision is not another run.
  const once = new Map<string, Run>()
  for (const run of runs.toSorted((a, b) => a.at - b.at)) {
    const key = `${run.job} ${run.state} ${run.slot_at} ${run.revision} ${run.state === 'done' || run.at}`
    if (!once.has(key)) once.set(key, run)
  }
  expect(once.size).toBeLessThan(runs.length)
  const count = (job: JobName, state: Run['state'], of: (run: Run) => boolean) =>
    [...once.values()].filter((run) => run.job === job && run.state === state && of(run)).length
  expect(await jobRuns(clickhouse, { now })).toMatchObject(
    names.map((job) => ({
      job,
      done: count(job, 'done', () => true),
      failed: count(job, 'failed', () => true),
      done_24h: count(job, 'done', isNew),
      failed_24h: count(job, 'failed', isNew),
      delay_24h: { count: count(job, 'done', isNew) },
      median_ms_24h: 1000,
    })),
  )
})

test('a pass that was recorded although its process was killed counts once, with whatever slots it is repeated', async ({
  clickhouse,
}) => {
  const run = (slot_at: number, started_at: number) => ({
    job: 'risk',
    slot_at,
    revision: 0,
    state: 'done' as const,
    result_rows: 1,
    error: '',
    started_at: `${started_at}.000`,
    duration_ms: 500,
    instance: 'i',
  })
  const slots = Array.from({ length: 500 }, (_, i) => START + 300 * i)
  const pass = (from: number, to: number, at: number) =>
    insertJobRuns(
      clickhouse,
      slots.slice(from, to).map((slot) => run(slot, at)),
    )
  await pass(0, 300, START)
  await pass(0, 200, START + 10)
  await pass(200, 500, START + 20)
  expect(await jobRuns(clickhouse, { now: new Date((START + 30) * 1000) })).toMatchObject([
    { job: 'risk', done: 500, done_24h: 500, failed: 0 },
  ])
})
