import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { rebuildPegMinutes } from '../../../../clickhouse/peg/minutes.js'
import { rebuild } from '../../../../tools/rebuild/rebuild.js'
import { addFacts, pegSamples, stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

/** The start of a day. */
const MIDNIGHT = 1_780_012_800

/** The minutes as [its end in seconds from midnight, quoted, unquoted, sum of deviations, seconds outside 10 bps, the last one]. */
async function minutes(clickhouse: ClickHouseClient): Promise<number[][]> {
  const answer = await clickhouse.query({
    query: `SELECT [toInt64(toUnixTimestamp(minute_end)) - ${MIDNIGHT}, toInt64(quoted_count), toInt64(unquoted_count),
                    toInt64(deviation_sum), toInt64(seconds_outside_10bps), toInt64(last_quoted.2)] AS row
            FROM peg_minutes FINAL ORDER BY row`,
    format: 'JSONEachRow',
  })
  return (await answer.json<{ row: string[] }>()).map(({ row }) => row.map(Number))
}

// A sample at a whole minute belongs to the minute that ends with it.
const SAMPLES = pegSamples(stableAddress(1), [
  { at: MIDNIGHT - 61, price: 1_000_000 },
  { at: MIDNIGHT - 60, price: 1_000_100 },
  { at: MIDNIGHT - 59, price: 998_000 },
  { at: MIDNIGHT - 20, price: 'no_liquidity' },
  { at: MIDNIGHT - 1, price: 1_000_010 },
  { at: MIDNIGHT, price: 1_000_020 },
  { at: MIDNIGHT + 1, price: 1_000_003 },
  { at: MIDNIGHT + 60, price: 1_000_004 },
])
const MINUTES = [
  [-60, 2, 0, 100, 0, 100],
  [0, 3, 1, -1970, 1, 20],
  [60, 2, 0, 7, 0, 4],
]

test('a rebuild counts a minute at the end of a day once, with all of its samples', async ({ clickhouse }) => {
  expect(new Date(MIDNIGHT * 1000).toISOString()).toMatch(/T00:00:00\.000Z$/)
  await addFacts(clickhouse, { samples: SAMPLES })
  expect(await minutes(clickhouse)).toEqual(MINUTES)
  expect(await rebuild(clickhouse, 'peg_minutes')).toEqual({ days: 2, differing: 0, shown: [] })
  expect(await minutes(clickhouse)).toEqual(MINUTES)
})

test('minutes are rebuilt between any two times, and others are not changed', async ({ clickhouse }) => {
  await addFacts(clickhouse, { samples: SAMPLES })
  for (const [first, last] of [
    [-60, -60],
    [-59, 59],
    [-1, 0],
    [1, 100],
  ] as const) {
    await rebuildPegMinutes(clickhouse, { first: MIDNIGHT + first, last: MIDNIGHT + last })
    expect(await minutes(clickhouse), `${first} to ${last}`).toEqual(MINUTES)
  }
})
