import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../../../clickhouse/store/insert.js'
import type { Slot } from '../../../jobs/schedule/run-slots.js'
import { runSlotWorker } from '../../../jobs/schedule/run-worker.js'
import { ALL_JOBS } from './jobs.js'

/** Writes to two tables, so that a kill can come between them. Pauses where the test requests it. */
async function count(clickhouse: ClickHouseClient, { at, revision, token }: Slot): Promise<number> {
  const slot_at = at.getTime() / 1000
  if (slot_at === Number(process.env.STUCK_AT)) await new Promise(() => setInterval(() => {}, 1000))
  const query = `SELECT toUInt32(count()) AS blocks, toUInt32(max(block_number)) AS newest FROM blocks WHERE block_time <= ${slot_at}`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{
    blocks: number
    newest: number
  }>()
  await insertRows(clickhouse, 'test_counts', [{ slot_at, revision, figure: row?.blocks }], token)
  await insertRows(clickhouse, 'test_newest', [{ slot_at, revision, figure: row?.newest }], token)
  return 2
}

await runSlotWorker('counting', count, ALL_JOBS)
