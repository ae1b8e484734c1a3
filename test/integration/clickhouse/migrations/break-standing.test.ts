import { expect } from 'vitest'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { breaksWithoutStanding } from '../../../../clickhouse/peg/standing.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { webhookSubscription } from '../../../../clickhouse/webhooks/subscriptions.js'
import { migrateUpTo } from '../../../support/migrations.js'
import { test } from '../../../support/services.js'

test('breaks from before stay unmeasured and are known as such, and subscriptions from before still get all', async ({
  emptyClickhouseEnv: env,
}) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  await migrateUpTo(env, clickhouse, '_break_standing.sql')
  const run = (query: string) => clickhouse.command({ query })
  const at = (minute: number): string => `'2026-07-01 12:0${minute}:00'`
  const add = (rows: string[], columns = '') =>
    run(`
      INSERT INTO peg_events (stable, severity, started_at, started_block, confirmed_at, max_deviation_micros${columns}, revision, slot_at, is_deleted)
      VALUES ${rows.join()}`)
  const ran = (minute: number, when: string) =>
    run(`
      INSERT INTO job_runs (job, slot_at, revision, state, result_rows, error, started_at, duration_ms, instance)
      VALUES ('peg-events', ${at(minute)}, 0, 'done', 1, '', ${when}, 1, 'test')`)
  await add([
    `('0xa', 'mild', ${at(1)}, 1, ${at(6)}, 2000, 0, ${at(6)}, 0)`,
    // Not confirmed yet.
    `('0xb', 'mild', ${at(1)}, 1, NULL, 2000, 0, ${at(6)}, 0)`,
    `('0xc', 'severe', ${at(1)}, 1, ${at(2)}, 9000, 0, ${at(6)}, 0)`,
  ])
  await ran(6, 'now() - 60')
  await run(`
    INSERT INTO webhook_subscriptions (id, version, label, url, event_types, stable_filter, severity, min_bps, min_seconds, state, created_at, changed_at)
    VALUES ('wh_1', 1, '', 'https://example.com', ['peg_break.started'], [], 'mild', 1, 60, 'enabled', now(), now())`)
  await migrate(env)
  await ran(8, 'now() + 60')
  await add([`('0xc', 'severe', ${at(1)}, 1, ${at(2)}, 9000, 1000, 1, ${at(6)}, 0)`], ', standing_tokens')
  await add([
    `('0xb', 'mild', ${at(1)}, 1, ${at(7)}, 2000, 0, ${at(8)}, 0)`,
    `('0xd', 'mild', ${at(2)}, 2, ${at(8)}, 2000, 0, ${at(8)}, 0)`,
  ])
  // Neither the break that a slot has found again nor one that was confirmed since.
  expect(await breaksWithoutStanding(clickhouse)).toEqual([{ stable: '0xa', severity: 'mild', started_block: 1 }])
  expect(await webhookSubscription(clickhouse, { id: 'wh_1' })).toMatchObject({ min_seconds: 60, min_size: 0 })
  await clickhouse.close()
})
