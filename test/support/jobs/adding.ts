import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../../../clickhouse/store/insert.js'
import type { Slot } from '../../../jobs/schedule/run-slots.js'
import { runSlotWorker } from '../../../jobs/schedule/run-worker.js'
import { ALL_JOBS } from './jobs.js'

/** Adds up the other job's counts up to the slot. */
async function add(clickhouse: ClickHouseClient, { at, revision, token }: Slot): Promise<number> {
  const slot_at = at.getTime() / 1000
  const query = `SELECT toUInt32(sum(figure)) AS figure FROM test_counts WHERE slot_at <= ${slot_at}`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ figure: number }>()
  await insertRows(clickhouse, 'test_sums', [{ slot_at, revision, figure: row?.figure }], token)
  return 1
}

await runSlotWorker('adding', add, ALL_JOBS)
