import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { SlotJob } from '../../../../clickhouse/jobs/periods.js'
import { createDueLook, type Slot, type Slots } from '../../../../jobs/schedule/run-slots.js'
import { jobHorizon } from '../../../support/jobs/horizon.js'
import { addRollback, planRollback } from '../../../support/ledger.js'
import { HOUR, MINUTES, ran } from '../../../support/ran-slots.js'
import { addBlocks } from '../../../support/rows.js'
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
