import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { migrateUpTo } from '../../../support/migrations.js'
import { test } from '../../../support/services.js'

const [RUN, NOT_RECORDED] = ['2026-07-01 12:00:00', '2026-07-01 12:05:00']

const rowsOf = async (clickhouse: ClickHouseClient, query: string): Promise<unknown[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json()

test('snapshots from before publication times are kept: published when their run ended, else at their slot', async ({
  emptyClickhouseEnv: env,
}) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const name = await migrateUpTo(env, clickhouse, '_published_at.sql')
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
