import { expect } from 'vitest'
import { pegMinutesOf } from '../../../../clickhouse/peg/minutes.js'
import { quoteHoursOf } from '../../../../clickhouse/peg/quote-hours.js'
import { MINUTE_SUMS, sampleSums } from '../../../../clickhouse/peg/sums.js'
import { PEG_WINDOWS } from '../../../../clickhouse/peg/windows.js'
import { deployed, formatted } from '../../../support/deployed-views.js'
import { test } from '../../../support/services.js'

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
