import type { ClickHouseClient } from '@clickhouse/client'
import { expect, inject, onTestFinished } from 'vitest'
import { pegMinutesOf, rebuildPegMinutes } from '../../../../clickhouse/peg/minutes.js'
import { quoteHoursOf } from '../../../../clickhouse/peg/quote-hours.js'
import { MINUTE_SUMS, sampleSums } from '../../../../clickhouse/peg/sums.js'
import { PEG_WINDOWS } from '../../../../clickhouse/peg/windows.js'
import { rebuild } from '../../../../tools/rebuild/rebuild.js'
import { deployed, formatted } from '../../../support/deployed-views.js'
import { addBlocks, addFacts, pegSamples, stableAddress } from '../../../support/rows.js'
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

test('minutes are not rebuilt while an earlier attempt may still insert them', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  await addFacts(clickhouse, { samples: SAMPLES })
  const range = { first: MIDNIGHT, last: MIDNIGHT + 60 }
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  // That of another database of the server has another id.
  const query_id = `rebuild_${clickhouseEnv.CLICKHOUSE_DATABASE}.peg_minutes:${range.first}-${range.last}`
  const abort_signal = stop.signal
  const earlier = clickhouse.command({ query: 'SELECT sleep(3) FROM numbers(100)', query_id, abort_signal })
  earlier.catch(() => {})
  await expect.poll(() => rebuildPegMinutes(clickhouse, range).catch(({ retryable }) => retryable)).toBe(true)
  expect(await minutes(clickhouse)).toEqual(MINUTES)
})

/** The names of the sums in the views before they are added up. */
const SHORT = ['quoted', 'unquoted', 'd1', 'd2', 'low', 'high', 'outside_10bps', 'outside_50bps']

const exactly = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

test('the view of minutes computes the same as the statement that rebuilds them', async ({ clickhouse }) => {
  expect(await deployed(clickhouse, 'peg_minutes_mv')).toBe(await formatted(clickhouse, pegMinutesOf()))
})

test('the view of hours computes the same as the statement that rebuilds them', async ({ clickhouse }) => {
  expect(await deployed(clickhouse, 'peg_quote_hours_mv')).toBe(await formatted(clickhouse, quoteHoursOf()))
})

test('the view of windows has the same sums, lengths and edges as the reads', async ({ clickhouse }) => {
  const view = await deployed(clickhouse, 'peg_windows_at')
  const list = async (sums: readonly string[]): Promise<string> =>
    (await formatted(clickhouse, `SELECT ${sums.join(', ')}`)).replace('SELECT ', '')
  const minuteSums = Object.values(MINUTE_SUMS).map((sum, i) => `${sum} AS ${SHORT[i]}`)
  expect(view).toContain(`${await list(minuteSums)} FROM peg_minutes`)
  expect(view).toContain(`, ${await list(Object.values(sampleSums()))} FROM (`)
  // The view adds up the sums of both halves under the same names as the reads.
  const totals = Object.entries(MINUTE_SUMS).map(
    ([column, sum], i) => `${sum.replace(column, `${SHORT[i]}`)} AS ${column}`,
  )
  expect(view).toContain(`SELECT stable, window_seconds, as_of, ${await list(totals)} FROM (`)

  const lengths = [...view.matchAll(/toStartOfMinute\(\(as_of - (\d+)\) \+ 59\) \+ 120/g)].map(([, seconds]) =>
    Number(seconds),
  )
  expect(lengths).toEqual(PEG_WINDOWS.map(({ seconds }) => seconds))
  expect(view).toMatch(new RegExp(exactly(`[${lengths.join(', ')}]`)))
})

test('the windows that live answers use name the instant that they were computed for', async ({ clickhouse }) => {
  const view = await deployed(clickhouse, 'peg_windows_mv')
  // Asked for a second time, the newest block may be another one.
  expect(view.match(/FROM blocks/g)).toHaveLength(1)
  expect(view).toContain('SELECT stable, window_seconds, as_of,')
})

test('the windows that the server computes by itself do not depend on its users’ profiles', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  await addBlocks(clickhouse, [MIDNIGHT + 300])
  await addFacts(clickhouse, { samples: SAMPLES })
  const view = await clickhouse.query({
    query: "SELECT as_select FROM system.tables WHERE database = currentDatabase() AND name = 'peg_windows_mv'",
    format: 'JSONEachRow',
  })
  const [{ as_select: statement }] = (await view.json()) as [{ as_select: string }]
  /** The result with the settings of the user's profile alone. */
  const resultFor = async (user: object): Promise<string> => {
    const { CLICKHOUSE_URL, CLICKHOUSE_DATABASE, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD } = { ...clickhouseEnv, ...user }
    const answer = await fetch(`${CLICKHOUSE_URL}/?database=${CLICKHOUSE_DATABASE}&date_time_output_format=iso`, {
      method: 'POST',
      body: statement,
      headers: { 'x-clickhouse-user': CLICKHOUSE_USER, 'x-clickhouse-key': CLICKHOUSE_PASSWORD },
    })
    return (await answer.text()).trimEnd().split('\n').sort().join('\n')
  }
  const usual = await resultFor({})
  expect(usual.split('\n').length).toBeGreaterThan(1)
  expect(await resultFor(inject('clickhouseUsers').other)).toBe(usual)
})
