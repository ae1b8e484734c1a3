import { expect } from 'vitest'
import { tokenLists } from '../../../../clickhouse/chain/token-lists.js'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { migrateUpTo } from '../../../support/migrations.js'
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

test('cold storage on a server without its policy is refused by the name of the policy, and changes nothing', async ({
  emptyClickhouseEnv,
}) => {
  await migrate(emptyClickhouseEnv)
  const clickhouse = connect(emptyClickhouseEnv, { application: 'plumbline-test' })
  const before = await schemaOf(clickhouse)
  await expect(migrate({ ...emptyClickhouseEnv, COLD_AFTER_DAYS: 30 })).rejects.toThrow(/is kept:.*policy.*plumbline/)
  expect(await schemaOf(clickhouse)).toEqual(before)
  await clickhouse.close()
})

test.for([
  ['a stable without a tier has samples, so all were sampled', 'all', 2],
  ['only listed stables have samples', 'listed', 1],
] as const)(
  'tiers become a list that holds from the beginning: %s',
  async ([, track, sampled], { emptyClickhouseEnv }) => {
    const clickhouse = connect(emptyClickhouseEnv, { application: 'plumbline-test' })
    await migrateUpTo(emptyClickhouseEnv, clickhouse, '_token_lists.sql')
    for (const query of [
      `INSERT INTO stablecoins (stable, tier, block_time) VALUES ('0xb', 'listed', 1), ('0xa', 'listed', 1), ('0xc', 'unlisted', 1)`,
      `INSERT INTO peg_samples (stable, status, block_time)
     SELECT * FROM VALUES('stable String, status String, block_time UInt32', ('0xa', 'anchor', 1), ('0xc', 'no_pair', 1)) LIMIT ${sampled}`,
    ])
      await clickhouse.command({ query })
    await migrate(emptyClickhouseEnv)
    const expected = { sequence_number: 1, from_block: 0, holds_from: 0, track, stables: ['0xa', '0xb'] }
    expect(await tokenLists(clickhouse)).toEqual([expected])
    await clickhouse.close()
  },
)
