import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { createSearches } from '../../../../api/answers/searches.js'
import { insertHistoryChange } from '../../../../clickhouse/chain/history-changes.js'
import { insertJobRun } from '../../../../clickhouse/jobs/runs.js'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { randomFor } from '../../../../local/chain/random.js'
import { Memories } from '../../../../process/memory.js'
import { addRollback } from '../../../support/ledger.js'
import { test } from '../../../support/services.js'

/** A slot of every job. */
const T = 1_790_001_000 - (1_790_001_000 % 3600)
const PERIOD = 120

/** Records a slot as done, or failed, at a wall-clock time in unix seconds. */
const run = (clickhouse: ClickHouseClient, slot_at: number, revision: number, endedAt: number, state = 'done') =>
  insertJobRun(clickhouse, {
    job: 'peg-events',
    slot_at,
    revision,
    state: state as 'done' | 'failed',
    result_rows: 0,
    error: '',
    started_at: endedAt.toFixed(3),
    duration_ms: 0,
    instance: 'test',
  })

test('after any slots, rollbacks and backfills, what is kept is what the slots say', async ({ clickhouse }) => {
  const random = randomFor(8, 'searches')
  const kept = createSearches(clickhouse, new Memories(), () => 0)
  const asked = { known_at: null, signal: AbortSignal.timeout(100_000) }
  const changes: Array<{ revision: number; kept_time: number }> = []
  const done = new Map<number, number>()
  let [rollbacks, backfills, newest, alone] = [0, 0, T, 0]
  for (let i = 1; i <= 60; i++) {
    const revision = Math.max(0, ...changes.map((change) => change.revision))
    const what = random.pick(['slots', 'slots', 'slots', 'ahead', 'failed', 'rollback', 'backfill'])
    const kept_time = T + random.int(0, newest - T)
    if (what === 'rollback') {
      await addRollback(clickhouse, ++rollbacks, kept_time)
      changes.push({ revision: rollbacks + backfills, kept_time })
    } else if (what === 'backfill') {
      const change = { sequence_number: ++backfills, backfill_sequence: i, kept_time, after_rollback: rollbacks }
      await insertHistoryChange(clickhouse, change)
      changes.push({ revision: rollbacks + backfills, kept_time })
    } else {
      // The scheduler does the oldest first; after a hole in the blocks it begins behind it.
      const isDone = (slot: number) =>
        changes.every((change) => slot < change.kept_time || (done.get(slot) ?? -1) >= change.revision)
      const undone = Array.from({ length: 400 }, (_, n) => T + (n + 1) * PERIOD).find(
        (slot) => !done.has(slot) || !isDone(slot),
      )
      const horizon = Math.max(0, ...[...done.keys()].filter(isDone))
      const first = Math.max(undone ?? T, horizon + PERIOD) + (what === 'ahead' ? random.int(1, 3) * PERIOD : 0)
      for (let slot = first; slot < first + random.int(1, 4) * PERIOD; slot += PERIOD) {
        await run(clickhouse, slot, revision, T, what === 'failed' ? 'failed' : 'done')
        if (what === 'failed') continue
        done.set(slot, revision)
        newest = Math.max(newest, slot)
      }
    }
    const valid = [...done].filter(([slot, run]) =>
      changes.every(({ revision, kept_time }) => slot < kept_time || run >= revision),
    )
    const stretches: Array<{ from: number; until: number }> = []
    for (const [slot] of valid.toSorted(([a], [b]) => a - b)) {
      const last = stretches.at(-1)
      if (last?.until === slot - PERIOD) last.until = slot
      else stretches.push({ from: slot - PERIOD, until: slot })
    }
    if (stretches.length > 1) alone += 1
    expect(await kept.read('peg-events', asked), `${i}: ${what}`).toEqual({ stretches, late_seconds: 2 * PERIOD })
  }
  expect(Math.min(alone, rollbacks, backfills)).toBeGreaterThan(3)
})

test('an answer reads only the slots since the last, and after half a minute all', async ({ clickhouse }) => {
  const clock = { ms: 0 }
  const kept = createSearches(clickhouse, new Memories(), () => clock.ms)
  const asked = { known_at: null, signal: AbortSignal.timeout(100_000) }
  const statements: string[] = []
  observeQueries(clickhouse, (query) => statements.push(query))
  const stretches = async () => {
    statements.length = 0
    const both = await Promise.all([kept.read('peg-events', asked), kept.read('peg-events', asked)])
    expect(both[0]).toEqual(both[1])
    return both[0]?.stretches
  }
  expect(await stretches()).toEqual([])
  await run(clickhouse, T, 0, T)
  await run(clickhouse, T + 480, 0, T)
  const last = { from: T + 360, until: T + 480 }
  expect(await stretches()).toEqual([{ from: T - 120, until: T }, last])
  // Behind the last slot: its time counts as not searched for a while.
  await run(clickhouse, T + 120, 0, T)
  expect(await stretches()).toEqual([{ from: T - 120, until: T }, last])
  expect(statements.sort()).toEqual(['days_of_runs', 'history_revisions'])
  clock.ms += 30_000
  expect(await stretches()).toEqual([{ from: T - 120, until: T + 120 }, last])
})

test('with known_at, a search is what it was then', async ({ clickhouse }) => {
  const searches = createSearches(clickhouse, new Memories())
  const knownAt = async (seconds: number) => {
    const asked = { known_at: new Date(seconds * 1000), signal: AbortSignal.timeout(100_000) }
    return (await searches.read('peg-events', asked)).stretches
  }
  await run(clickhouse, T, 0, T + 10)
  await run(clickhouse, T + 120, 0, T + 130)
  await addRollback(clickhouse, 1, T + 100)
  const planned = Date.now() / 1000
  await run(clickhouse, T + 120, 1, planned + 100)
  const [one, both] = [[{ from: T - 120, until: T }], [{ from: T - 120, until: T + 120 }]]
  expect(await knownAt(T + 9)).toEqual([])
  expect(await knownAt(T + 10)).toEqual(one)
  expect(await knownAt(T + 130)).toEqual(both)
  expect(await knownAt(planned + 99)).toEqual(one)
  expect(await knownAt(planned + 101)).toEqual(both)
})
