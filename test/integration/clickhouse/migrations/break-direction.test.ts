import { expect } from 'vitest'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { migrateUpTo } from '../../../support/migrations.js'
import { test } from '../../../support/services.js'

test('breaks from before directions get that of their first sample, and keep all else', async ({
  emptyClickhouseEnv: env,
}) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const name = await migrateUpTo(env, clickhouse, '_break_direction.sql')
  const run = (query: string) => clickhouse.command({ query })
  const at = (minute: number): string => `'2026-07-01 12:0${minute}:00'`
  await run(`
    INSERT INTO peg_samples (stable, block_number, block_time, elapsed_seconds, status, sell_micros, buy_micros) VALUES
    ('0xa', 1, ${at(1)}, 60, 'quoted', 1002000, 1002000), ('0xa', 2, ${at(2)}, 60, 'quoted', 990000, 990000),
    ('0xb', 1, ${at(1)}, 60, 'quoted', 998000, 998000), ('0xb', 2, ${at(2)}, 60, 'quoted', 1000000, 1000000)`)
  const columns = `stable, severity, started_at, started_block, confirmed_at, ended_at, ended_block, max_deviation_micros, revision, slot_at, is_deleted`
  const rows = [
    `('0xa', 'mild', ${at(1)}, 1, NULL, NULL, NULL, 2000, 0, ${at(2)}, 0)`,
    `('0xa', 'mild', ${at(1)}, 1, ${at(6)}, NULL, NULL, 10000, 0, ${at(8)}, 0)`,
    `('0xa', 'severe', ${at(2)}, 2, ${at(3)}, ${at(4)}, 4, 10000, 3, ${at(4)}, 0)`,
    `('0xb', 'mild', ${at(1)}, 1, NULL, NULL, NULL, 2000, 0, ${at(2)}, 0)`,
    `('0xb', 'mild', ${at(1)}, 1, NULL, NULL, NULL, 2000, 1, ${at(2)}, 1)`,
    // Its first sample is not stored.
    `('0xc', 'mild', ${at(1)}, 1, NULL, NULL, NULL, 2000, 0, ${at(2)}, 0)`,
  ]
  for (const row of rows) await run(`INSERT INTO peg_events (${columns}) VALUES ${row}`)
  const read = async (what: string): Promise<unknown[]> => {
    const query = `SELECT ${what} FROM peg_events FINAL ORDER BY stable, severity`
    return (await clickhouse.query({ query, format: 'JSONCompactEachRow' })).json()
  }
  const before = await read(columns)
  const expected = [
    ['0xa', 'mild', 'above'],
    ['0xa', 'severe', 'below'],
    ['0xc', 'mild', null],
  ]
  await migrate(env)
  expect(await read('stable, severity, direction')).toEqual(expected)
  expect(await read(columns)).toEqual(before)
  // A migration that was killed before it was recorded is repeated as a whole.
  await run(`DELETE FROM schema_migrations WHERE name = '${name}'`)
  await migrate(env)
  await run('OPTIMIZE TABLE peg_events FINAL')
  expect(await read('stable, severity, direction')).toEqual(expected)
  expect(await read(columns)).toEqual(before)
  await clickhouse.close()
})
