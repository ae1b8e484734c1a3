import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { type ClickHouseEnv, connect } from '../../../../clickhouse/store/client.js'
import { test } from '../../../support/services.js'

const MIGRATIONS = new URL('../../../../clickhouse/migrations/', import.meta.url)
const [RUN, NOT_RECORDED] = ['2026-07-01 12:00:00', '2026-07-01 12:05:00']

const rowsOf = async (clickhouse: ClickHouseClient, query: string): Promise<unknown[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json()

/** Brings an empty database to the state in which a deployment before `name` left it. */
async function migrateUpTo(env: ClickHouseEnv, clickhouse: ClickHouseClient, name: string): Promise<void> {
  const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, { application: 'plumbline-test' })
  await server.command({ query: `CREATE DATABASE ${env.CLICKHOUSE_DATABASE}` })
  await server.close()
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort()
  await clickhouse.command({
    query: `CREATE TABLE schema_migrations (version UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
            ENGINE = MergeTree ORDER BY version SETTINGS non_replicated_deduplication_window = 1000`,
  })
  for (const file of files.slice(0, files.indexOf(name))) {
    const sql = await readFile(new URL(file, MIGRATIONS), 'utf8')
    for (const query of sql.split(/;[ \t]*$/m).filter((text) => text.replace(/^\s*--.*$/gm, '').trim() !== ''))
      await clickhouse.command({ query })
    const checksum = createHash('sha256').update(sql).digest('hex')
    const row = `(${Number(file.slice(0, 4))}, '${file}', '${checksum}')`
    await clickhouse.command({ query: `INSERT INTO schema_migrations (version, name, checksum) VALUES ${row}` })
  }
}

test('snapshots from before publication times are kept: published when their run ended, else at their slot', async ({
  emptyClickhouseEnv: env,
}) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const name = (await readdir(MIGRATIONS)).find((file) => file.endsWith('_published_at.sql')) as string
  await migrateUpTo(env, clickhouse, name)
  for (const [table, job] of [
    ['risk_snapshots', 'risk'],
    ['reserve_snapshots', 'reserves'],
  ] as const) {
    for (const slot of [RUN, NOT_RECORDED])
      await clickhouse.command({
        query: `INSERT INTO ${table} (stable, slot_at, revision, supply_raw) VALUES ('0xa', '${slot}', 3, 7), ('0xb', '${slot}', 3, 8)`,
      })
    const run = (revision: number, state: string, started: string) =>
      `('${job}', '${RUN}', ${revision}, '${state}', '${started}', 250)`
    const runs = [
      run(3, 'failed', '2026-07-01 12:00:05.000'),
      run(3, 'done', '2026-07-01 12:00:30.500'),
      run(3, 'done', '2026-07-01 13:00:00.000'),
      run(4, 'done', '2026-07-02 00:00:00.000'),
    ]
    await clickhouse.command({
      query: `INSERT INTO job_runs (job, slot_at, revision, state, started_at, duration_ms) VALUES ${runs.join()}`,
    })
  }
  const read = async () =>
    Promise.all(
      ['risk_snapshots', 'reserve_snapshots'].map((table) =>
        rowsOf(
          clickhouse,
          `SELECT stable, published_at, toUInt32(supply_raw) AS supply FROM ${table} FINAL ORDER BY ALL`,
        ),
      ),
    )
  const expected = ['0xa', '0xb'].flatMap((stable, i) =>
    ['2026-07-01T12:00:30.750Z', '2026-07-01T12:05:00.000Z'].map((published_at) => ({
      stable,
      published_at,
      supply: 7 + i,
    })),
  )
  await migrate(env)
  expect(await read()).toEqual([expected, expected])
  // A migration that was killed before it was recorded is repeated as a whole.
  await clickhouse.command({ query: `DELETE FROM schema_migrations WHERE name = '${name}'` })
  await migrate(env)
  expect(await read()).toEqual([expected, expected])
  await clickhouse.close()
})
