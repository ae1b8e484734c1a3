import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { expect } from 'vitest'
import { invalidateBackfilledSlots } from '../../../../jobs/schedule/invalidate-slots.js'
import { jobHorizon } from '../../../support/jobs/horizon.js'
import { addBatch, addRollback, planBatch } from '../../../support/ledger.js'
import { HOUR, MINUTES, ran } from '../../../support/ran-slots.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

/** Longer than any test takes. */
const NEVER_QUIET = { quietSeconds: 100_000 }

/** A tip from block 100 at HOUR on, one block per minute; its slots up to HOUR + 120 are done. */
async function addTip(clickhouse: ClickHouseClient): Promise<void> {
  await addBatch(clickhouse, 'tip', 1, { from_block: 100, to_block: 103 })
  await addBlocks(clickhouse, [HOUR, HOUR + 60, HOUR + 120, HOUR + 130], 100)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([
    [60, 0],
    [120, 0],
  ])
}

/** A backfill's blocks before the tip, a minute apart and not at the times of slots. */
async function backfill(clickhouse: ClickHouseClient, sequence: number, from: number, to: number): Promise<void> {
  const times = Array.from({ length: to - from + 1 }, (_, i) => HOUR + (from + i - 100) * 60 - 10)
  await addBlocks(clickhouse, times, from)
  await addBatch(clickhouse, 'backfill', sequence, { from_block: from, to_block: to })
}

const changesOf = async (clickhouse: ClickHouseClient): Promise<unknown[]> => {
  const query = `SELECT toUInt32(sequence_number) AS number, toUInt32(backfill_sequence) AS backfill, toUInt32(after_rollback) AS after_rollback,
                        toInt32(toUnixTimestamp(kept_time) - ${HOUR}) AS kept FROM history_changes ORDER BY sequence_number`
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
}

/** Slots a minute apart under one revision. */
const minutely = (from: number, to: number, revision: number): number[][] =>
  Array.from({ length: (to - from) / 60 + 1 }, (_, i) => [from + i * 60, revision])

test('once a backfill is completed, every slot from its oldest block on is done, or done again', async ({
  clickhouse,
}) => {
  await addTip(clickhouse)
  await backfill(clickhouse, 1, 96, 99)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-240, 120, 1))
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([])
  expect(await changesOf(clickhouse)).toEqual([{ number: 1, backfill: 1, after_rollback: 0, kept: -250 }])
})

test('while a backfill runs, no slot before the tip is done, and the tip continues', async ({ clickhouse }) => {
  await addTip(clickhouse)
  await backfill(clickhouse, 1, 98, 99)
  await addBlocks(clickhouse, [HOUR + 190], 104)
  expect((await ran(clickhouse, MINUTES, NEVER_QUIET)).slots, 'it has just written').toEqual([[180, 0]])
  // The next batch may be half-written.
  await planBatch(clickhouse, 'backfill', 2, { from_block: 96, to_block: 97 })
  await addBlocks(clickhouse, [HOUR - 190], 97)
  await addBlocks(clickhouse, [HOUR + 250], 105)
  expect((await ran(clickhouse, MINUTES)).slots, 'its writer may come back').toEqual([[240, 0]])
  await addBlocks(clickhouse, [HOUR - 250], 96)
  await addBatch(clickhouse, 'backfill', 2, { from_block: 96, to_block: 97 })
  expect((await ran(clickhouse, MINUTES, NEVER_QUIET)).slots).toEqual([])
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-240, 240, 1))
})

test('blocks before a gap change nothing until the gap is closed', async ({ clickhouse }) => {
  await addTip(clickhouse)
  await backfill(clickhouse, 1, 92, 93)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([])
  await backfill(clickhouse, 2, 98, 99)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-120, 120, 1))
  await backfill(clickhouse, 3, 94, 97)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-480, 120, 2))
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([])
})

test('new facts of blocks that were already ingested are also a change', async ({ clickhouse }) => {
  await addTip(clickhouse)
  await backfill(clickhouse, 1, 96, 99)
  await ran(clickhouse, MINUTES)
  await addBatch(clickhouse, 'backfill', 2, { from_block: 98, to_block: 99, families: ['pegs'] })
  await addBlocks(clickhouse, [HOUR + 190], 104)
  expect((await ran(clickhouse, MINUTES, NEVER_QUIET)).slots, 'all is done as before').toEqual([[180, 1]])
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-120, 180, 2))
})

test('rollbacks and backfills both increase the revision, in any order', async ({ clickhouse }) => {
  const horizon = async () => jobHorizon(clickhouse, 'minutes')
  await addTip(clickhouse)
  await addRollback(clickhouse, 1, HOUR + 100)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual([[120, 1]])
  await backfill(clickhouse, 1, 98, 99)
  expect((await ran(clickhouse, MINUTES, { limit: 2 })).slots).toEqual(minutely(-120, -60, 2))
  expect(await horizon(), 'what comes later is not what it was').toBe(HOUR - 60)
  await addRollback(clickhouse, 2, HOUR + 100)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(0, 120, 3))
  await backfill(clickhouse, 2, 97, 97)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-180, 120, 4))
  await addRollback(clickhouse, 3, HOUR + 10)
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(60, 120, 5))
  expect(await horizon()).toBe(HOUR + 120)
})

test('workers that see a backfill at the same time record it once, as do those that run after a kill', async ({
  clickhouse,
}) => {
  await addTip(clickhouse)
  await backfill(clickhouse, 1, 98, 99)
  const options = { clickhouse, quietSeconds: 0, checkLease: async () => {}, log: pino({ level: 'silent' }) }
  await Promise.all(Array.from({ length: 4 }, () => invalidateBackfilledSlots(options)))
  const once = [{ number: 1, backfill: 1, after_rollback: 0, kept: -130 }]
  expect(await changesOf(clickhouse)).toEqual(once)
  const killed = async (): Promise<void> => {
    throw new Error('killed')
  }
  await expect(ran(clickhouse, MINUTES, { checkLease: killed })).rejects.toThrow('killed')
  expect((await ran(clickhouse, MINUTES)).slots).toEqual(minutely(-120, 120, 1))
  expect(await changesOf(clickhouse)).toEqual(once)
  // A process that no longer has the lease records nothing.
  await backfill(clickhouse, 2, 97, 97)
  await expect(invalidateBackfilledSlots({ ...options, checkLease: killed })).rejects.toThrow('killed')
  expect(await changesOf(clickhouse)).toEqual(once)
})
