import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { differingBuckets } from '../../../../clickhouse/flows/buckets.js'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { migrateUpTo } from '../../../support/migrations.js'
import { flow, txHash } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

/** A multiple of 15 minutes. */
const START = 1_780_000_200

test('buckets from before keep their number of transactions, and later ones are added to it', async ({
  emptyClickhouseEnv: env,
}) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const name = await migrateUpTo(env, clickhouse, '_flow_transactions.sql')
  const counts = async (): Promise<unknown[]> => {
    const query = 'SELECT toUInt32(transaction_count) FROM flow_buckets FINAL ORDER BY window_start'
    return (await clickhouse.query({ query, format: 'JSONCompactEachRow' })).json()
  }
  // Of two inserts, so in two rows that may not be merged yet.
  const both = { tx_hash: txHash(7) }
  await insertFacts(clickhouse, 'flows', [flow(1, 2, START, both), flow(1, 2, START, { ...both, log_index: 1 })], 'one')
  await insertFacts(clickhouse, 'flows', [flow(1, 2, START + 1), flow(1, 2, START + 900)], 'two')
  await migrate(env)
  expect(await counts()).toEqual([[2], [1]])
  await insertFacts(clickhouse, 'flows', [flow(1, 2, START + 2)], 'three')
  // A migration that was killed before it was recorded is repeated as a whole.
  await clickhouse.command({ query: `DELETE FROM schema_migrations WHERE name = '${name}'` })
  await migrate(env)
  await insertFacts(clickhouse, 'flows', [flow(1, 2, START + 901)], 'four')
  expect(await counts()).toEqual([[3], [2]])
  expect(await differingBuckets(clickhouse, { to: START + 10_000 })).toEqual([])
  await clickhouse.close()
})
