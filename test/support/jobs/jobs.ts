import type { ClickHouseClient } from '@clickhouse/client'
import { SLOT_JOBS, type SlotJob } from '../../../clickhouse/jobs/periods.js'

/** A test job that counts blocks, and one that adds up its counts. */
export const COUNTING: SlotJob = { name: 'counting', period_seconds: 60 }
const ADDING: SlotJob = { name: 'adding', period_seconds: 300, after: ['counting'] }

export const TEST_JOBS: readonly SlotJob[] = [COUNTING, ADDING]

/** The product's jobs and the test jobs. */
export const ALL_JOBS: readonly SlotJob[] = [...SLOT_JOBS, ...TEST_JOBS]

/** The tables of the test jobs. Rows are never replaced, so that duplicates are visible. */
export async function createTestTables(clickhouse: ClickHouseClient): Promise<void> {
  for (const table of ['test_counts', 'test_newest', 'test_sums'])
    await clickhouse.command({
      query: `CREATE TABLE ${table} (slot_at UInt32, revision UInt32, figure UInt32)
              ENGINE = MergeTree ORDER BY slot_at SETTINGS non_replicated_deduplication_window = 1000`,
    })
}

type TestRow = { slot_at: number; figure: number }
export type TestRows = { counts: TestRow[]; newest: TestRow[]; sums: TestRow[] }

/** The rows that the test jobs have written. */
export async function testRows(clickhouse: ClickHouseClient): Promise<TestRows> {
  const read = async (table: string): Promise<TestRow[]> => {
    const query = `SELECT slot_at, figure FROM ${table} ORDER BY slot_at`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<TestRow>()
  }
  return { counts: await read('test_counts'), newest: await read('test_newest'), sums: await read('test_sums') }
}

/**
 * The rows that they must have written, once each, when all slots are done. Blocks are numbered from 1; times are Unix
 * seconds.
 */
export function expectedTestRows(blockTimes: readonly number[]): TestRows {
  const rows: TestRows = { counts: [], newest: [], sums: [] }
  const first = Math.min(...blockTimes)
  const last = Math.max(...blockTimes)
  let sum = 0
  for (let slot_at = first + 1; slot_at < last; slot_at++) {
    if (slot_at % 60 === 0) {
      const figure = blockTimes.filter((time) => time <= slot_at).length
      rows.counts.push({ slot_at, figure })
      rows.newest.push({ slot_at, figure })
      sum += figure
    }
    if (slot_at % 300 === 0) rows.sums.push({ slot_at, figure: sum })
  }
  return rows
}
