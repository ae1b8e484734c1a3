import { expect } from 'vitest'
import { factTables, insertFacts } from '../../../../clickhouse/facts/facts.js'
import { TABLES } from '../../../../clickhouse/tables.js'
import { stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const MOST = 2n ** 128n - 1n
const fee = (amount_raw: string) => ({
  stable: stableAddress(1),
  payer: stableAddress(9),
  amount_raw,
  block_number: 7,
  log_index: 3,
  block_time: Math.floor(Date.now() / 1000),
  tx_hash: '0x1',
})

test('a fact that its column cannot hold is refused by its place and value, and nothing is stored', async ({
  clickhouse,
}) => {
  await insertFacts(clickhouse, 'fees_paid', [fee(`${MOST}`)], 'fits')
  for (const amount of [`${MOST + 1n}`, `${2n ** 129n}`, '-1', '1.5', '1e9', '']) {
    const refused = insertFacts(clickhouse, 'fees_paid', [fee('1'), fee(amount)], amount)
    await expect(refused).rejects.toThrow(`fees_paid.amount_raw of block 7, log 3 is ${amount}, which is not`)
    await expect(refused).rejects.toMatchObject({ retryable: false })
  }
  const stored = await clickhouse.query({
    query: 'SELECT toString(amount_raw) AS amount FROM fees_paid',
    format: 'JSONEachRow',
  })
  expect(await stored.json()).toEqual([{ amount: `${MOST}` }])
})

test('every column of facts that holds large integers is checked by its own size', async ({ clickhouse }) => {
  const query = `
    SELECT table, name, toUInt32(extract(type, 'UInt(\\\\d+)')) AS bits FROM system.columns
    WHERE database = currentDatabase() AND table IN {tables: Array(String)}
      AND match(type, '^(Nullable\\\\()?UInt(32|64|128|256)') AND default_kind = ''
      AND name NOT IN ('block_number', 'log_index', 'size_tokens', 'tx_count', 'log_count')`
  const answer = await clickhouse.query({ query, query_params: { tables: factTables }, format: 'JSONEachRow' })
  const found = await answer.json<{ table: string; name: string; bits: number }>()
  const checked = factTables.flatMap((table) =>
    Object.entries(TABLES[table].bits).map(([name, bits]) => ({ table, name, bits })),
  )
  const order = (rows: typeof found) => rows.map(({ table, name, bits }) => `${table}.${name} ${bits}`).sort()
  expect(order(checked)).toEqual(order(found))
})
