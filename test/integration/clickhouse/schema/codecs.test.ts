import { expect } from 'vitest'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { test } from '../../../support/services.js'

test('every hash and every text of a fact is stored with a codec that can halve it', async ({ clickhouse }) => {
  const answer = await clickhouse.query({
    query: `
      SELECT table, name FROM system.columns
      WHERE database = currentDatabase() AND table IN {tables: Array(String)}
        AND (match(type, '^(Nullable\\\\()?String')) AND compression_codec NOT LIKE '%ZSTD%'`,
    query_params: { tables: [...factTables, 'ingest_batches', 'job_runs', 'payments'] },
    format: 'JSONEachRow',
  })
  expect(await answer.json()).toEqual([])
})
