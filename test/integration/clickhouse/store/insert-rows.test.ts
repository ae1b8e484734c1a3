import { expect } from 'vitest'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { test } from '../../../support/services.js'

/** More rows than the engine would put into one block by default. */
const ROWS = 1_200_000

test('an insert of any size is atomic: it creates one part, and its repeat creates none', async ({ clickhouse }) => {
  await clickhouse.command({
    query:
      'CREATE TABLE large (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100',
  })
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n }))
  await insertRows(clickhouse, 'large', rows, 'token')
  await insertRows(clickhouse, 'large', rows, 'token')
  const parts = await clickhouse.query({
    query: `SELECT rows, toUInt32(max_block_number - min_block_number + 1) AS inserted FROM system.parts
            WHERE active AND database = currentDatabase() AND table = 'large'`,
    format: 'JSONEachRow',
  })
  expect(await parts.json()).toEqual([{ rows: `${ROWS}`, inserted: 1 }])
})
