import { expect } from 'vitest'
import { GROWTH, STILL } from '../../../../tools/size/growth.js'
import { measure } from '../../../../tools/size/measured.js'
import { test } from '../../../support/services.js'

test('of every table of the database it is known whether it grows, and with what', async ({ clickhouse }) => {
  const query = `
    SELECT name FROM system.tables
    WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND NOT startsWith(name, '.') -- a view that is being refreshed`
  const tables = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ name: string }>()
  expect([...Object.keys(GROWTH), ...STILL].sort()).toEqual(tables.map(({ name }) => name).sort())
})

test('a database without blocks has no size yet', async ({ clickhouse }) => {
  expect(await measure(clickhouse, 0)).toBeNull()
})
