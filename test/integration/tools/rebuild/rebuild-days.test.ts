import { expect } from 'vitest'
import { derivedTables } from '../../../../clickhouse/tables.js'
import { rebuild } from '../../../../tools/rebuild/rebuild.js'
import { account, addRows, feeElection } from '../../../support/economy-rows.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { addFacts, flow, pegSamples, stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

/** The start of a month, and so of a day. */
const MIDNIGHT = Date.parse('2026-06-01T00:00:00Z') / 1000

// Before, at and after midnight: minutes and windows include their ends differently.
const TIMES = [-900, -899, -61, -60, -59, -1, 0, 1, 60, 61, 899, 900].map((seconds) => MIDNIGHT + seconds)

test.for(derivedTables)(
  'rebuilding %s day by day gives the same rows as its view, even next to midnight',
  async (table, { clickhouse }) => {
    await addFacts(clickhouse, {
      samples: pegSamples(
        stableAddress(1),
        TIMES.map((at, i) => ({ at, price: i === 4 ? 'no_liquidity' : 990_000 + i })),
      ),
      // One edge that continues from day to day, and one that begins on the second day.
      flows: [...TIMES.map((at) => flow(1, 2, at)), flow(2, 1, MIDNIGHT)],
    })
    await addRows(clickhouse, {
      fee_elections: TIMES.map((block_time, i) =>
        feeElection('user', account(i % 3), stableAddress(i), { block_number: i, block_time }),
      ),
    })
    const expected = await fingerprint(clickhouse)
    // Choices are kept for two months, and for a year, each at its first day.
    const days = table === 'fee_choices' ? 3 : 2
    expect(await rebuild(clickhouse, table)).toEqual({ days, differing: 0, shown: [] })
    expect(await fingerprint(clickhouse)).toEqual(expected)
  },
)
