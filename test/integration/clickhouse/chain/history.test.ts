import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { newestBlock, newestBlockTime } from '../../../../clickhouse/chain/blocks.js'
import { settledSpan, wholeSince } from '../../../../clickhouse/chain/history.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { newestSamples } from '../../../../clickhouse/peg/samples.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { rowsReadBy } from '../../../support/read-rows.js'
import { addBareBlocks } from '../../../support/rows.js'
import { test, withDatabase } from '../../../support/services.js'

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

const HISTORIES = depth('HISTORIES', 12, 100)
const FIRST_SECOND = 1_772_323_200
/** Around these numbers, the blocks that are counted together change. */
const EDGES = [0, 100_000, 200_000, 300_000]

test('blocks are whole from the first one after the newest hole, wherever holes are', async () => {
  let inside = 0
  for (let history = 0; history < HISTORIES; history++) {
    const random = randomFor(1, 'holes', history)
    const numbers = EDGES.slice(0, random.int(1, EDGES.length)).flatMap((edge) =>
      Array.from({ length: 40 }, (_, i) => edge - 20 + i).filter((number) => number >= 0),
    )
    const holes = random.pick([0, 1, 5])
    const missing = new Set(Array.from({ length: holes }, () => random.pick(numbers)))
    const from = random.pick([0, 1, random.pick(numbers)])
    const stored = numbers.filter((number) => number >= from && !missing.has(number))
    let first = stored[0] ?? 0
    for (const [i, number] of stored.entries()) if (i > 0 && number !== (stored[i - 1] ?? 0) + 1) first = number
    if (first !== stored[0] && first % 100_000 !== 99_980) inside++
    await withDatabase(async (_, clickhouse) => {
      expect(await wholeSince(clickhouse)).toBeNull()
      await insertRows(
        clickhouse,
        'blocks',
        stored.map((block_number) => ({ block_number, block_time: FIRST_SECOND + block_number })),
        'blocks',
      )
      expect(await wholeSince(clickhouse), `history ${history}`).toBe(FIRST_SECOND + first)
    })
  }
  expect(inside).toBeGreaterThan(2)
})
