import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { newestBlock, newestBlockTime } from '../../../../clickhouse/chain/blocks.js'
import { settledSpan } from '../../../../clickhouse/chain/history.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { newestSamples } from '../../../../clickhouse/peg/samples.js'
import { randomFor } from '../../../../local/chain/random.js'
import { rowsReadBy } from '../../../support/read-rows.js'
import { addBareBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const START = 1_760_000_000
const DAY = 86_400

async function newestTimes(clickhouse: ClickHouseClient, instants: readonly number[]): Promise<Array<number | null>> {
  const found: Array<number | null> = []
  for (const at of instants) {
    const query = `SELECT toUnixTimestamp(${newestBlockTime('{at: DateTime}')}) AS time`
    const result = await clickhouse.query({ query, query_params: { at: new Date(at * 1000) }, format: 'JSONEachRow' })
    found.push((await result.json<{ time: number | null }>())[0]?.time ?? null)
  }
  return found
}

test('the newest block at an instant is found across holes of any length, at their edges, and after a cut', async ({
  clickhouse,
}) => {
  const random = randomFor(5, 'newest block')
  const times: number[] = []
  for (let at = START; times.length < 40; at += random.pick([0, 1, 60, DAY, 2 * DAY, 2 * DAY + 1, 40 * DAY]))
    times.push(at)
  const instants = [
    0,
    1,
    START - 1,
    4_294_967_295,
    ...times.flatMap((at) => [at - 1, at, at + 2 * DAY, at + 2 * DAY + 1]),
  ]
  const expected = (kept: readonly number[]) => instants.map((at) => kept.findLast((time) => time <= at) ?? null)
  expect(await newestTimes(clickhouse, [0, START])).toEqual([null, null])
  expect(await newestBlock(clickhouse)).toBeNull()

  await addBareBlocks(clickhouse, times)
  expect(await newestTimes(clickhouse, instants)).toEqual(expected(times))
  expect(await newestBlock(clickhouse)).toMatchObject({ block_number: 40 })

  await removeFacts(clickhouse, { from_block: 31, from_time: times[29] as number })
  expect(await newestTimes(clickhouse, instants)).toEqual(expected(times.slice(0, 30)))
  const newest = { block_number: 30, block_time: new Date((times[29] as number) * 1000) }
  expect(await newestBlock(clickhouse)).toEqual(newest)
})

test('what is read for the newest block does not grow with the months of history', async ({ clickhouse }) => {
  const end = START + 100 * DAY
  await clickhouse.command({
    query: `INSERT INTO blocks (block_number, block_time) SELECT 420000 - number, toDateTime(${end} - number * 600, 'UTC') FROM numbers(420000)`,
  })
  const as_of = new Date((end - 5 * DAY) * 1000)
  // The blocks of a month, or a few rows for each.
  expect(await rowsReadBy(clickhouse, (counted) => newestBlock(counted))).toBeLessThan(10_000)
  expect(await rowsReadBy(clickhouse, (counted) => newestSamples(counted, { as_of }))).toBeLessThan(10_000)
  expect(await rowsReadBy(clickhouse, (counted) => settledSpan(counted))).toBeLessThan(10_000)
})
