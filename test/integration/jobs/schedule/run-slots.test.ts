import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { SLOT_JOBS, type SlotJob } from '../../../../clickhouse/jobs/periods.js'
import { completedSlots, insertJobRun, type JobRun, jobStatuses } from '../../../../clickhouse/jobs/runs.js'
import { FLOW_ANOMALIES_TASK } from '../../../../jobs/detect/flow-anomalies.js'
import { createDueLook, type Slot, type Slots } from '../../../../jobs/schedule/run-slots.js'
import { randomFor } from '../../../../local/chain/random.js'
import { cachedApp } from '../../../support/cached-app.js'
import { storedEvents } from '../../../support/events.js'
import { anomaliesOf } from '../../../support/flow-anomalies.js'
import { fitfulFlows, wildFlows } from '../../../support/flow-market.js'
import { jobHorizon } from '../../../support/jobs/horizon.js'
import { addRollback, planRollback } from '../../../support/ledger.js'
import { HOUR, MINUTES, ran } from '../../../support/ran-slots.js'
import { addBlocks, addFacts } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { skipSlots, slotAt } from '../../../support/slots.js'

const rowsOf = async (clickhouse: ClickHouseClient, query: string): Promise<unknown[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json()

test('slots are the multiples of the period after the first block and before the newest', async ({ clickhouse }) => {
  expect(await ran(clickhouse, MINUTES)).toEqual({ done: 0, more: false, slots: [] })
  await addBlocks(clickhouse, [HOUR, HOUR + 10])
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([])
  await addBlocks(clickhouse, [HOUR + 60], 3)
  expect((await ran(clickhouse, MINUTES)).slots, 'another block may have the same time').toEqual([])
  await addBlocks(clickhouse, [HOUR + 60, HOUR + 61], 4)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([[60, 0]])
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([])
  await addBlocks(clickhouse, [HOUR + 241], 6)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([
    [120, 0],
    [180, 0],
    [240, 0],
  ])
})

test('a job has something to do exactly while a slot of it is due', async ({ clickhouse }) => {
  const hourly: SlotJob = { name: 'hourly', period_seconds: 3600 }
  const after: SlotJob = { name: 'after', period_seconds: 60, after: ['minutes'] }
  const jobs = [MINUTES, hourly, after]
  const look = createDueLook(clickhouse, jobs)
  // One that has looked before knows as much as a new one.
  const withWork = async () => {
    const due = await look(jobs)
    expect(await createDueLook(clickhouse, jobs)(jobs)).toEqual(due)
    return due
  }
  expect(await withWork()).toEqual([])
  await addBlocks(clickhouse, [HOUR + 1, HOUR + 61])
  expect(await withWork()).toEqual(['minutes'])
  await ran(clickhouse, MINUTES)
  expect(await withWork(), 'its turn has come').toEqual(['after'])
  await ran(clickhouse, after, { jobs })
  expect(await withWork()).toEqual([])
  await addRollback(clickhouse, 1, HOUR + 30)
  expect(await withWork(), 'a rollback makes the slot due again').toEqual(['minutes'])
  await ran(clickhouse, MINUTES)
  await ran(clickhouse, after, { jobs })
  expect(await withWork()).toEqual([])
  await addBlocks(clickhouse, [HOUR + 121], 3)
  expect(await withWork(), 'the newest block is after another slot').toEqual(['minutes'])
})

test('every run is recorded, and a failed slot blocks those after it until it is done', async ({ clickhouse }) => {
  await addBlocks(clickhouse, [HOUR, HOUR + 200])
  let isBroken = true
  const task = async (_: ClickHouseClient, { at }: Slot): Promise<number> => {
    if (isBroken && at.getTime() / 1000 === HOUR + 120) throw new Error('it is broken')
    return 3
  }
  expect(await ran(clickhouse, MINUTES, { task })).toEqual({ done: 1, more: false, slots: [[60, 0]] })
  expect(await ran(clickhouse, MINUTES, { task })).toMatchObject({ done: 0, more: false })
  isBroken = false
  expect((await ran(clickhouse, MINUTES, { task })).slots).toEqual([
    [120, 0],
    [180, 0],
  ])
  const runs = `SELECT toInt32(toUnixTimestamp(slot_at) - ${HOUR}) AS at, state, toUInt32(result_rows) AS rows, error,
                       started_at > now() - 600 AND duration_ms < 600000 AS is_timed
                FROM job_runs ORDER BY slot_at, state DESC`
  const failed = { at: 120, state: 'failed', rows: 0, error: 'it is broken', is_timed: 1 }
  const done = (at: number) => ({ at, state: 'done', rows: 3, error: '', is_timed: 1 })
  expect(await rowsOf(clickhouse, runs)).toEqual([done(60), failed, failed, done(120), done(180)])
})

test('consecutive slots are done in passes; one that fails is cut until the slot at fault is alone', async ({
  clickhouse,
}) => {
  await addBlocks(clickhouse, [HOUR, HOUR + 660])
  const passes: number[][] = []
  let broken: readonly number[] = [300]
  const pass = async (_: ClickHouseClient, slots: Slots): Promise<number[]> => {
    const seconds = slots.map(({ at }) => at.getTime() / 1000 - HOUR)
    if (seconds.some((at) => broken.includes(at))) throw new Error('it is broken')
    passes.push(seconds)
    return seconds
  }
  expect(await ran(clickhouse, MINUTES, { task: { pass } })).toMatchObject({ done: 4, more: false })
  expect(passes.flat()).toEqual([60, 120, 180, 240])
  const runs = `SELECT toInt32(toUnixTimestamp(slot_at) - ${HOUR}) AS at, state, toUInt32(result_rows) AS rows
                FROM job_runs ORDER BY slot_at, state DESC`
  const done = (at: number) => ({ at, state: 'done', rows: at })
  const failed = { at: 300, state: 'failed', rows: 0 }
  expect(await rowsOf(clickhouse, runs)).toEqual([...[60, 120, 180, 240].map(done), failed])
  // A slot that is done already is between two passes.
  await skipSlots(clickhouse, [slotAt('minutes', HOUR + 420)])
  broken = []
  passes.length = 0
  expect(await ran(clickhouse, MINUTES, { task: { pass } })).toMatchObject({ done: 5, more: false })
  expect(passes).toEqual([
    [300, 360],
    [480, 540, 600],
  ])
})

test('a job of independent slots does the newest first, each once, and those behind them in the end', async ({
  clickhouse,
}) => {
  const job: SlotJob = { ...MINUTES, newest_first: true }
  await addBlocks(clickhouse, [HOUR, HOUR + 301])
  expect(await ran(clickhouse, job, { limit: 3 })).toEqual({
    done: 3,
    more: true,
    slots: [
      [300, 0],
      [240, 0],
      [180, 0],
    ],
  })
  // What is new goes before what is left, and a slot that fails keeps only older ones from being done.
  await addBlocks(clickhouse, [HOUR + 430], 3)
  let broken: readonly number[] = [60]
  const passes: number[][] = []
  const pass = async (_: ClickHouseClient, slots: Slots): Promise<number[]> => {
    const seconds = slots.map(({ at }) => at.getTime() / 1000 - HOUR)
    if (seconds.some((at) => broken.includes(at))) throw new Error('it is broken')
    passes.push(seconds)
    return seconds
  }
  expect(await ran(clickhouse, job, { task: { pass } })).toMatchObject({ done: 3, more: false })
  expect(passes).toEqual([[360, 420], [120]])
  await addBlocks(clickhouse, [HOUR + 550], 4)
  broken = []
  passes.length = 0
  expect(await ran(clickhouse, job, { task: { pass } })).toMatchObject({ done: 3, more: false })
  expect(passes).toEqual([[480, 540], [60]])
  const once =
    "SELECT toUInt32(count()) AS runs, toUInt32(uniqExact(slot_at)) AS slots FROM job_runs WHERE state = 'done'"
  expect(await rowsOf(clickhouse, once)).toEqual([{ runs: 9, slots: 9 }])
})

test('a job waits for the oldest slot that is left of a job that does the newest first', async ({ clickhouse }) => {
  const first: SlotJob = { ...MINUTES, newest_first: true }
  const after: SlotJob = { name: 'after', period_seconds: 60, after: ['minutes'], newest_first: true }
  await addBlocks(clickhouse, [HOUR, HOUR + 301])
  await skipSlots(clickhouse, [slotAt('minutes', HOUR + 60)])
  await ran(clickhouse, first, { limit: 2 })
  expect((await ran(clickhouse, after, { jobs: [first, after] })).slots).toEqual([[60, 0]])
  await ran(clickhouse, first)
  expect((await ran(clickhouse, after, { jobs: [first, after] })).slots).toEqual([
    [300, 0],
    [240, 0],
    [180, 0],
    [120, 0],
  ])
})

test('a call does a limited number of slots and reports that more are due', async ({ clickhouse }) => {
  await addBlocks(clickhouse, [HOUR, HOUR + 301])
  expect(await ran(clickhouse, MINUTES, { limit: 3 })).toMatchObject({ done: 3, more: true })
  expect((await ran(clickhouse, MINUTES, { limit: 3 })).slots).toEqual([
    [240, 0],
    [300, 0],
  ])
})

test('once the lease is lost, no slot begins and none is recorded as done', async ({ clickhouse }) => {
  await addBlocks(clickhouse, [HOUR, HOUR + 200])
  let checks = 0
  const checkLease = async (): Promise<void> => {
    if (++checks > 2) throw new Error('lost')
  }
  await expect(ran(clickhouse, MINUTES, { checkLease })).rejects.toThrow('lost')
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([
    [120, 0],
    [180, 0],
  ])
})

test('a completed rollback makes slots due again that may have lost facts, and moves the horizon back', async ({
  clickhouse,
}) => {
  const horizon = async () => jobHorizon(clickhouse, 'minutes')
  await addBlocks(clickhouse, [HOUR, HOUR + 90, HOUR + 200, HOUR + 310])
  await ran(clickhouse, MINUTES)
  expect(await horizon()).toBe(HOUR + 300)
  await planRollback(clickhouse, 1, HOUR + 180)
  await addBlocks(clickhouse, [HOUR + 370], 5)
  expect((await ran(clickhouse, MINUTES)).slots, 'while it is in progress').toEqual([])
  await addRollback(clickhouse, 1, HOUR + 180)
  expect(await horizon()).toBe(HOUR + 120)
  expect((await ran(clickhouse, MINUTES, { limit: 2 })).slots).toEqual([
    [180, 1],
    [240, 1],
  ])
  await addRollback(clickhouse, 2, HOUR + 200)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([
    [240, 2],
    [300, 2],
    [360, 2],
  ])
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([])
  expect(await horizon()).toBe(HOUR + 360)
})

test('a job runs a slot only after the jobs that it reads have done one at or after it', async ({ clickhouse }) => {
  const reader: SlotJob = { name: 'reader', period_seconds: 90, after: ['minutes'] }
  const jobs = [MINUTES, reader]
  await addBlocks(clickhouse, [HOUR, HOUR + 400])
  expect((await ran(clickhouse, reader, { jobs })).slots).toEqual([])
  await ran(clickhouse, MINUTES, { limit: 3 })
  expect((await ran(clickhouse, reader, { jobs })).slots).toEqual([
    [90, 0],
    [180, 0],
  ])
  await ran(clickhouse, MINUTES)
  expect((await ran(clickhouse, reader, { jobs })).slots).toEqual([
    [270, 0],
    [360, 0],
  ])
})

test('slots of blocks that a backfill adds before the first slot are done once no block is missing in between', async ({
  clickhouse,
}) => {
  await addBlocks(clickhouse, [HOUR, HOUR + 130], 100)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([
    [60, 0],
    [120, 0],
  ])
  await addBlocks(clickhouse, [HOUR - 190, HOUR - 130], 97)
  await addBlocks(clickhouse, [HOUR + 190], 102)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([[180, 0]])
  await addBlocks(clickhouse, [HOUR - 70], 99)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([
    [-180, 0],
    [-120, 0],
    [-60, 0],
    [0, 0],
  ])
})

test('slots of a job that needs history wait until it is read without a hole, or from the first block of the chain on', async ({
  clickhouse,
}) => {
  const needy: SlotJob = { ...MINUTES, history_seconds: 300 }
  await addBlocks(clickhouse, [HOUR, HOUR + 200, HOUR + 500], 5)
  expect((await ran(clickhouse, needy)).slots).toEqual([
    [360, 0],
    [420, 0],
    [480, 0],
  ])
  // A backfill that reads the oldest blocks first changes nothing while blocks after them are missing.
  await addBlocks(clickhouse, [HOUR - 400, HOUR - 350], 1)
  expect((await ran(clickhouse, needy)).slots).toEqual([])
  await addBlocks(clickhouse, [HOUR - 130], 4)
  expect((await ran(clickhouse, needy)).slots).toEqual([
    [180, 0],
    [240, 0],
    [300, 0],
  ])
  await addBlocks(clickhouse, [HOUR - 190], 3)
  const rest = await ran(clickhouse, needy)
  expect(rest.slots).toEqual([-360, -300, -240, -180, -120, -60, 0, 60, 120].map((at) => [at, 0]))
})

const at = (seconds: number): Date => new Date((HOUR + seconds) * 1000)

const run = (slot: number, state: JobRun['state']): JobRun => ({
  job: 'does',
  slot_at: HOUR + slot,
  revision: 0,
  state,
  result_rows: 0,
  error: '',
  started_at: `${HOUR + slot + 5}.000`,
  duration_ms: 2000,
  instance: 'i',
})

test('a job’s lag counts from its newest completed slot, or from the start of history if it has none', async ({
  clickhouse,
}) => {
  const jobs = ['does', 'never']
  const nothing = { last_slot_at: null, last_success_at: null, lag_seconds: null }
  expect(await jobStatuses(clickhouse, { jobs })).toEqual(jobs.map((job) => ({ job, ...nothing })))
  await addBlocks(clickhouse, [HOUR, HOUR + 500])
  for (const [slot, state] of [
    [60, 'done'],
    [120, 'done'],
    [180, 'failed'],
  ] as const)
    await insertJobRun(clickhouse, run(slot, state))
  expect(await jobStatuses(clickhouse, { jobs })).toEqual([
    { job: 'does', last_slot_at: at(120), last_success_at: at(127), lag_seconds: 380 },
    { job: 'never', ...nothing, lag_seconds: 500 },
  ])
})

const JOB = SLOT_JOBS.find(({ name }) => name === 'flow-anomalies') as SlotJob
const PERIOD = JOB.period_seconds
const DAY = 86_400
/** From one block to the next, in seconds. */
const BLOCK = 300

test('while anomalies are found from the newest on, no answer counts a window as complete that was not searched', async ({
  clickhouse,
}) => {
  const random = randomFor(1, 'newest first')
  const end = Math.floor(Date.now() / 1000 / PERIOD) * PERIOD - PERIOD
  const start = end - 2 * DAY
  const blockOf = (time: number): number => Math.floor((time - start) / BLOCK) + 1
  const flows = [...wildFlows(3, start, end), ...fitfulFlows(random, start, end)].map((flow) => {
    const block_number = blockOf(flow.block_time)
    return { ...flow, block_number, block_time: start + (block_number - 1) * BLOCK }
  })
  const times = Array.from({ length: blockOf(end) }, (_, i) => start + i * BLOCK)
  let stored = 0
  const addUntil = async (time: number): Promise<void> => {
    const isNew = (at: number): boolean => at < time && blockOf(at) > stored
    await addFacts(clickhouse, { flows: flows.filter(({ block_time }) => isNew(block_time)) })
    await addBlocks(clickhouse, times.filter(isNew), stored + 1)
    stored = Math.max(stored, ...times.filter(isNew).map(blockOf))
  }
  const doneSlots = async () => (await completedSlots(clickhouse)).map(({ slot_at }) => slot_at)

  let parts = 0
  await addUntil(end - DAY)
  for (let time = end - DAY, more = true; more; ) {
    const before = new Set(await doneSlots())
    const result = await ran(clickhouse, JOB, { jobs: SLOT_JOBS, task: FLOW_ANOMALIES_TASK, limit: 20 })
    more = result.more
    const done = await doneSlots()
    const added = done.filter((slot) => !before.has(slot))
    expect(added, 'none twice').toHaveLength(result.done)
    const newest = start + (stored - 1) * BLOCK
    expect(Math.max(...done), 'the newest first').toBe((Math.ceil(newest / PERIOD) - 1) * PERIOD)
    // A service that has just started knows every search.
    const app = await cachedApp(clickhouse, { now: () => new Date((start + stored * BLOCK) * 1000) })
    const url = '/api/v1/stablecoins/flow-anomalies?limit=1'
    const { searched_from, complete_until } = (await app.inject(url)).json() as {
      searched_from: string | null
      complete_until: string | null
    }
    const from = Date.parse(searched_from ?? '') / 1000
    expect(from).toBeGreaterThan(0)
    const until = complete_until ? Date.parse(complete_until) / 1000 : from
    for (let slot = from + PERIOD; slot <= until; slot += PERIOD)
      expect(done, `${searched_from} to ${complete_until}`).toContain(slot)
    if (from > start) parts++
    // What is new arrives meanwhile.
    time += random.int(0, 6) * PERIOD
    await addUntil(Math.min(time, end))
  }
  expect(parts).toBeGreaterThan(3)
  const app = await cachedApp(clickhouse, { now: () => new Date((start + stored * BLOCK) * 1000) })
  const anomalies = await anomaliesOf(app)
  const events = await storedEvents(clickhouse)
  expect(anomalies.length).toBeGreaterThan(5)
  expect(events).toHaveLength(anomalies.length)
  expect(new Set(events.map(({ data }) => `${data.from_token} ${data.to_token} ${data.window_start}`)).size).toBe(
    events.length,
  )
})
