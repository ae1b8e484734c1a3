import { expect } from 'vitest'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { test } from '../../../support/services.js'

// A running refresh has a table of its own.
const schemaOf = async (clickhouse: ReturnType<typeof connect>): Promise<unknown[]> => {
  const query = `SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE '.tmp%' ORDER BY name`
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
}

test('two processes that migrate at the same time create one schema and record each migration once', async ({
  emptyClickhouseEnv,
}) => {
  await Promise.all([migrate(emptyClickhouseEnv), migrate(emptyClickhouseEnv)])
  const clickhouse = connect(emptyClickhouseEnv, { application: 'plumbline-test' })
  const recorded = await clickhouse.query({
    query: 'SELECT version FROM schema_migrations ORDER BY version',
    format: 'JSONEachRow',
  })
  const versions = (await recorded.json<{ version: number }>()).map(({ version }) => version)
  expect(versions.length).toBeGreaterThan(0)
  expect(versions).toEqual(versions.map((_, i) => i + 1))
  const schema = await schemaOf(clickhouse)
  expect(await migrate(emptyClickhouseEnv)).toEqual([])
  expect(await schemaOf(clickhouse)).toEqual(schema)
  await clickhouse.close()
})

test('a database that was migrated by a newer version is refused', async ({ clickhouseEnv, clickhouse }) => {
  await clickhouse.command({
    query: `INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, '9999_from_the_future.sql', 'x')`,
  })
  await expect(migrate(clickhouseEnv)).rejects.toThrow(/9999_from_the_future\.sql.*use a newer Plumbline/)
})

test('a migration that was changed after it was applied is refused', async ({ clickhouseEnv, clickhouse }) => {
  await clickhouse.command({ query: `TRUNCATE TABLE schema_migrations` })
  await clickhouse.command({
    query: `INSERT INTO schema_migrations (version, name, checksum) VALUES (1, '0001_ingest_ledger.sql', 'other')`,
  })
  await expect(migrate(clickhouseEnv)).rejects.toThrow('0001_ingest_ledger.sql was changed after it had been applied')
})
