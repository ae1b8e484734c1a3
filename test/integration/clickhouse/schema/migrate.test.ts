import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { migrate, SCHEMA, schemaVersion } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { test } from '../../../support/services.js'

const rowsOf = async (clickhouse: ClickHouseClient, query: string): Promise<unknown[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json()

// A running refresh has a table of its own.
const schemaOf = (clickhouse: ClickHouseClient): Promise<unknown[]> =>
  rowsOf(
    clickhouse,
    `SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE '.tmp%' ORDER BY name`,
  )

test('two processes that migrate at the same time create one schema and record each migration once', async ({
  emptyClickhouseEnv,
}) => {
  await Promise.all([migrate(emptyClickhouseEnv), migrate(emptyClickhouseEnv)])
  const clickhouse = connect(emptyClickhouseEnv, { application: 'plumbline-test' })
  const recorded = await rowsOf(clickhouse, 'SELECT version FROM schema_migrations ORDER BY version')
  expect(recorded.length).toBeGreaterThan(0)
  expect(recorded).toEqual(recorded.map((_, i) => ({ version: i + 1 })))
  const schema = await schemaOf(clickhouse)
  expect(await migrate(emptyClickhouseEnv)).toEqual([])
  expect(await schemaOf(clickhouse)).toEqual(schema)
  await clickhouse.close()
})

const ADD = "ALTER TABLE blocks ADD COLUMN IF NOT EXISTS fullness UInt8 DEFAULT least(tx_count, 100) COMMENT 'percent'"

test.for([
  ['', null],
  [' also after it was killed between two statements,', ADD],
])(
  'a later release adds a column to a table with rows,%s and the release before refuses it then',
  async ([, done], { clickhouseEnv, clickhouse }) => {
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-upgrade-'))
    try {
      await cp(SCHEMA, folder, { recursive: true, filter: (file) => !file.endsWith('.ts') })
      const later = `-- How full a block is.\n${ADD};\n\nALTER TABLE blocks MATERIALIZE COLUMN fullness;\n`
      await writeFile(join(folder, '9000_fullness.sql'), later)
      const release = pathToFileURL(`${folder}/`)
      await clickhouse.command({ query: 'INSERT INTO blocks (block_number, tx_count) VALUES (1, 7), (2, 700)' })
      if (done) await clickhouse.command({ query: done })
      expect(await migrate(clickhouseEnv, release)).toEqual(['9000_fullness.sql'])
      expect(await migrate(clickhouseEnv, release)).toEqual([])
      expect(await schemaVersion(clickhouse)).toBe(9000)
      const blocks = 'SELECT toUInt32(block_number) AS block, fullness FROM blocks ORDER BY block'
      expect(await rowsOf(clickhouse, blocks)).toEqual([
        { block: 1, fullness: 7 },
        { block: 2, fullness: 100 },
      ])
      await expect(migrate(clickhouseEnv)).rejects.toThrow(/9000_fullness\.sql.*use a newer Plumbline/)
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)

test('a database that a build before 0.1.0 made is refused with what to do, and is left as it is', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await clickhouse.command({ query: 'TRUNCATE TABLE schema_migrations' })
  await clickhouse.command({
    query: `INSERT INTO schema_migrations (version, name, checksum) VALUES
              (1, '0001_ingest_ledger.sql', 'x'), (2, '0002_chain_facts.sql', 'x'), (15, '0015_risk_and_reserves.sql', 'x')`,
  })
  await expect(migrate(clickhouseEnv)).rejects.toThrow(
    `the database ${clickhouseEnv.CLICKHOUSE_DATABASE} was made by a build before 0.1.0, and its schema cannot be upgraded: set CLICKHOUSE_DATABASE to a new name, run npm run migrate, and read the chain again (npm run ingest, npm run backfill)`,
  )
  expect(await rowsOf(clickhouse, 'SELECT version FROM schema_migrations ORDER BY version')).toEqual(
    [1, 2, 15].map((version) => ({ version })),
  )
})

test('a migration that was changed after it was applied is refused', async ({ clickhouseEnv, clickhouse }) => {
  await clickhouse.command({ query: `TRUNCATE TABLE schema_migrations` })
  await clickhouse.command({
    query: `INSERT INTO schema_migrations (version, name, checksum) VALUES (1, '0001_ledger.sql', 'other')`,
  })
  await expect(migrate(clickhouseEnv)).rejects.toThrow('0001_ledger.sql was changed after it had been applied')
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
