import { expect } from 'vitest'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { allStablecoins } from '../../../../clickhouse/stablecoins/stablecoins.js'
import { keptTexts } from '../../../../clickhouse/stablecoins/texts.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { test } from '../../../support/services.js'

test('texts that were stored whole are cut as ingest cuts them, and others stay as they are', async ({
  emptyClickhouseEnv,
}) => {
  await migrate(emptyClickhouseEnv)
  const clickhouse = connect(emptyClickhouseEnv, { application: 'plumbline-test' })
  const texts = [
    { symbol: 'USDX', name: 'X Dollar', currency: 'USD' },
    { symbol: 'S'.repeat(64), name: '💵'.repeat(256), currency: 'C'.repeat(64) },
    { symbol: '👩‍👩‍👧'.repeat(40), name: 'é\u0000'.repeat(5000), currency: 'USD' },
    { symbol: 'S', name: 'N', currency: 'C'.repeat(65) },
  ]
  const values = texts.map((text, i) => ({ stable: `0x${i}`, ...text, block_number: 1, log_index: i }))
  await clickhouse.insert({ table: 'stablecoins', values, format: 'JSONEachRow' })
  await clickhouse.command({
    query: 'DELETE FROM schema_migrations WHERE version = 48',
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  })
  await migrate(emptyClickhouseEnv)
  const stored = await allStablecoins(clickhouse, { before_block: 2 })
  expect(stored.map(({ symbol, name, currency, truncated }) => ({ symbol, name, currency, truncated }))).toEqual(
    texts.map(keptTexts),
  )
  await clickhouse.close()
})
