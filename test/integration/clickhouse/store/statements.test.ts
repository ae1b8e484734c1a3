import { expect, inject, onTestFinished } from 'vitest'
import { z } from 'zod'
import { isRecent, recentFirst } from '../../../../clickhouse/chain/recent-first.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../../../../clickhouse/store/define-query.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const count = z.object({ count: z.int() })
const sql = 'SELECT number FROM system.numbers WHERE number < {count: UInt8} LIMIT {count: UInt8}'
const number = z.object({ number: z.string() })

test('reads of rows, of one row and of one value return exactly that, and an empty list or null if there is none', async ({
  clickhouse,
}) => {
  const numbers = defineQuery({ name: 'numbers', params: count, row: number, sql })
  const first = defineOptionalRow({ name: 'first', params: count, row: number, sql })
  const values = defineQuery({ name: 'values', params: count, row: onlyColumn('number', z.string()), sql })
  const total = defineRow({ name: 'total', row: onlyColumn('n', z.int()), sql: 'SELECT toUInt32(41 + 1) AS n' })
  expect(await numbers(clickhouse, { count: 2 })).toEqual([{ number: '0' }, { number: '1' }])
  expect(await numbers(clickhouse, { count: 0 })).toEqual([])
  expect(await first(clickhouse, { count: 1 })).toEqual({ number: '0' })
  expect(await first(clickhouse, { count: 0 })).toBeNull()
  expect(await values(clickhouse, { count: 2 })).toEqual(['0', '1'])
  expect(await total(clickhouse)).toBe(42)
})

test('a missing required row and a row with the wrong shape are errors that name the query', async ({ clickhouse }) => {
  const one = defineRow({ name: 'the_one', params: count, row: number, sql })
  await expect(one(clickhouse, { count: 0 })).rejects.toThrow('the_one')
  const wrong = defineOptionalRow({ name: 'wrong', params: count, row: onlyColumn('number', z.int()), sql })
  await expect(wrong(clickhouse, { count: 1 })).rejects.toThrow('wrong')
  await expect(wrong(clickhouse, { count: 1.5 })).rejects.toThrow('expected int')
})

test('hours and days are those of UTC, whatever the profile of the user sets', async ({ clickhouseEnv }) => {
  const at = new Date('2026-07-01T23:59:59Z')
  const read = defineRow({
    name: 'hour_and_day',
    params: z.object({ at: z.date() }),
    row: z.object({ hour: z.int(), day: z.int() }),
    sql: `
      SELECT toUnixTimestamp(toStartOfHour({at: DateTime})) AS hour, toUInt32(toDate({at: DateTime})) AS day`,
  })
  const clickhouse = connect(
    { ...clickhouseEnv, ...inject('clickhouseUsers').other },
    { application: 'plumbline-test' },
  )
  onTestFinished(() => clickhouse.close())
  const seconds = (text: string): number => Date.parse(text) / 1000
  expect(await read(clickhouse, { at })).toEqual({
    hour: seconds('2026-07-01T23:00:00Z'),
    day: seconds('2026-07-01T00:00:00Z') / 86_400,
  })
})

test('a read without parameters is canceled by its signal', async ({ clickhouse }) => {
  const slow = defineQuery({ name: 'slow', row: z.object({}), sql: 'SELECT sleep(3)' })
  await expect(slow(clickhouse, { signal: AbortSignal.timeout(200) })).rejects.toThrow('slow')
})

test('a read of recent rows looks at all of history only if the recent part is not enough', async ({ clickhouse }) => {
  const [old, newest] = [1_750_000_000, 1_760_000_000]
  await addBlocks(clickhouse, [old, newest])
  const asked: boolean[] = []
  const read = defineOptionalRow({
    name: 'newest_before',
    params: z.object({ at: z.date(), recent_only: z.boolean() }),
    row: onlyColumn('time', z.int()),
    sql: `
      SELECT toUnixTimestamp(block_time) AS time FROM blocks
      WHERE block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}
      ORDER BY block_time DESC LIMIT 1`,
  })
  const newestBefore = recentFirst<{ at: Date; recent_only: boolean }, number | null>((client, params, options) => {
    asked.push(params.recent_only)
    return read(client, params, options)
  })
  expect(await newestBefore(clickhouse, { at: new Date(newest * 1000 + 5000) })).toBe(newest)
  expect(asked).toEqual([true])
  expect(await newestBefore(clickhouse, { at: new Date(newest * 1000 - 5000) })).toBe(old)
  expect(asked).toEqual([true, true, false])
  expect(await newestBefore(clickhouse, { at: new Date(old * 1000 - 5000) })).toBeNull()
})

/** More rows than the engine would put into one block by default. */
const ROWS = 1_200_000

test('an insert of any size is atomic: it creates one part, and its repeat creates none', async ({ clickhouse }) => {
  await clickhouse.command({
    query:
      'CREATE TABLE large (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100',
  })
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n }))
  await insertRows(clickhouse, 'large', rows, 'token')
  await insertRows(clickhouse, 'large', rows, 'token')
  const parts = await clickhouse.query({
    query: `SELECT rows, toUInt32(max_block_number - min_block_number + 1) AS inserted FROM system.parts
            WHERE active AND database = currentDatabase() AND table = 'large'`,
    format: 'JSONEachRow',
  })
  expect(await parts.json()).toEqual([{ rows: `${ROWS}`, inserted: 1 }])
})
