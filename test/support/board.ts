import type { ClickHouseClient } from '@clickhouse/client'
import type { Page } from 'playwright-core'
import { addEvents, madeUpEvent } from './events.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead, type Tick } from './rows.js'

const MINUTE = 60
/** The history of the board's stables. */
const MINUTES = 24 * 60

/** When the stables of `addBoard` have no quote or are off their pegs, in minutes before the end. */
export const GAP = { from: 300, to: 200 }
export const BREAK = { from: 120, to: 60, bps: -30 }

/** Names that somebody wrote who means harm, or did not care. */
const HOSTILE = `\u202eDSU<img src=x onerror=alert(1)>${'W'.repeat(5000)}`

/**
 * A day of a sample a minute up to `now` (unix seconds) for stables that differ in all that the board shows: two with the
 * same symbol, one without a quote for a while, one with a break, one without a symbol, one with a hostile symbol, and one
 * that was never sampled. Returns their addresses.
 */
export async function addBoard(clickhouse: ClickHouseClient, now: number) {
  const times = Array.from({ length: MINUTES }, (_, i) => now - (MINUTES - 1 - i) * MINUTE)
  const ticks = (priceAt: (minutesAgo: number) => Tick['price']): Tick[] =>
    times.map((at, i) => ({ at, price: priceAt(MINUTES - 1 - i) }))
  const within = (range: { from: number; to: number }, minutesAgo: number): boolean =>
    minutesAgo <= range.from && minutesAgo > range.to
  const [twin, otherTwin, gap, broken, nameless, hostile, unsampled] = [1, 2, 3, 4, 5, 6, 7].map(stableAddress) as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: [
      stablecoin(1, { symbol: 'TWIN' }),
      stablecoin(2, { symbol: 'TWIN' }),
      stablecoin(3, { symbol: 'GAP' }),
      stablecoin(4, { symbol: 'BROKEN' }),
      stablecoin(5, { symbol: '' }),
      stablecoin(6, { symbol: HOSTILE, name: HOSTILE }),
      stablecoin(7, { symbol: 'UNSAMPLED' }),
    ],
    states: [1, 2, 3, 4, 5, 6, 7].map((i) => stateRead(stableAddress(i), { supply_raw: `${i}000000000` })),
    samples: [
      ...[twin, otherTwin, nameless, hostile].flatMap((stable, i) =>
        pegSamples(
          stable,
          ticks(() => 1_000_000 + i * 100),
        ),
      ),
      ...pegSamples(
        gap,
        ticks((minutesAgo) => (within(GAP, minutesAgo) ? 'no_liquidity' : 1_000_000)),
      ),
      ...pegSamples(
        broken,
        ticks((minutesAgo) => (within(BREAK, minutesAgo) ? 1_000_000 + BREAK.bps * 100 : 1_000_000)),
      ),
    ],
  })
  const started = {
    stable: broken,
    severity: 'mild',
    started_at: new Date((now - BREAK.from * MINUTE) * 1000).toISOString().replace('.000', ''),
    max_deviation_bps: 30,
    started_block: MINUTES - BREAK.from,
  }
  await addEvents(clickhouse, [
    madeUpEvent(4, { stables: [broken], occurred_at: new Date((now - BREAK.from * MINUTE) * 1000), data: started }),
  ])
  return { twin, otherTwin, gap, broken, nameless, hostile, unsampled }
}

/** Waits until the picture is painted with its history. */
export async function painted(page: Page): Promise<void> {
  await page.locator('.stage canvas').first().waitFor()
  // Not waitForFunction, which the policy of the page refuses.
  while (!(await page.evaluate(`performance.getEntriesByName('board-history').length > 0`)))
    await page.waitForTimeout(50)
}
