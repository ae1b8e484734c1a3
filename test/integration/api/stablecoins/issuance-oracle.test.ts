import { expect } from 'vitest'
import { randomFor } from '../../../../local/chain/random.js'
import { coverageAt } from '../../../../oracle/coverage.js'
import { issuanceAt } from '../../../../oracle/issuance.js'
import { iso } from '../../../../oracle/rows.js'
import { test } from '../../../support/app.js'
import { economyFacts } from '../../../support/oracle/economy-facts.js'
import { expectSame } from '../../../support/oracle/same.js'
import { randomIssuance } from '../../../support/random-issuance.js'

const DAY = 86_400
const SEED = 18

type Answer = {
  windows: { minted: string | null; minted_pct: number | null; supply_at_start: string | null; coverage: object }[]
  burn_surge: { ratio: number | null; baseline_days: number }
  coverage: { status: string; message: string }
  largest_mints: { amount: string }[]
}

const without = (name: string, row: object): object =>
  Object.fromEntries(Object.entries(row).filter(([key]) => key !== name))

/** The names of the cases that an answer is one of. */
const casesOf = ({ windows, burn_surge, coverage, largest_mints }: Answer): string[] => [
  coverage.status,
  ...windows.map(({ minted, minted_pct, supply_at_start }) =>
    minted === null
      ? 'not measured'
      : supply_at_start === null
        ? 'unknown supply'
        : minted_pct === null
          ? 'no supply'
          : 'share',
  ),
  ...(burn_surge.ratio === null
    ? [burn_surge.baseline_days === 0 ? 'no baseline' : 'nothing burned']
    : [burn_surge.baseline_days < 30 ? 'part of a baseline' : 'whole baseline']),
  ...(largest_mints.length === 10 && new Set(largest_mints.map(({ amount }) => amount)).size < 10 ? ['equal'] : []),
]

test('mints and burns follow from the single events, for every stable at any instant of a history with holes', async ({
  app,
  clickhouse,
  clock,
}) => {
  const start = Math.floor(clock.now.getTime() / 1000) - 85 * DAY
  const { stables, times, stored, add } = randomIssuance(SEED, start)
  await add(clickhouse)
  const economy = await economyFacts(clickhouse)
  const [first, last] = [times[0] as number, times.at(-1) as number]
  const random = randomFor(SEED, 'instants')
  const seen = new Map<string, number>()
  for (let i = 0; i < 100; i++) {
    // Any second, or one in which a window of an event begins or ends.
    const event = random.pick(times) + random.pick([0, 1, 7, 30, 31]) * DAY - random.int(0, 1)
    const at = Math.max(first, Math.min(last, random.chance(0.5) ? random.int(first, last) : event))
    const stable = stables[i % stables.length] as string
    const created = economy.stablecoins.find((row) => row.stable === stable)
    if (created && created.at > at) continue
    const about = `${stable} at ${at}, ${iso(at)}`
    const response = await app.inject(`/api/v1/stablecoins/${stable}/issuance?as_of=${at}`)
    expect(response.statusCode, about).toBe(200)
    const answer = response.json()
    const expected = issuanceAt({ economy, stored }, stable, at)
    const { address, as_of, coverage, ...figures } = answer
    expect([address, as_of], about).toEqual([stable, iso(at)])
    const published = {
      ...figures,
      windows: figures.windows.map((window: Answer['windows'][number]) => ({
        ...window,
        coverage: without('message', window.coverage),
      })),
      largest_mints: figures.largest_mints.map((row: object) => without('label', row)),
      largest_burns: figures.largest_burns.map((row: object) => without('label', row)),
    }
    expectSame(published, expected, about)

    const since = { block_number: created?.block_number ?? 0, block_time: created?.at ?? 0 }
    const measured = coverageAt(stored, { families: ['logs'], stable, since, from: at - 31 * DAY + 1, to: at }, 100)
    const isUnknown = expected.windows.some(({ supply_at_start }) => supply_at_start === null)
    expect(without('message', coverage), about).toEqual({
      ...measured,
      status: measured.status === 'complete' && isUnknown ? 'partial' : measured.status,
    })
    for (const name of casesOf(answer)) seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  // The history has all of them.
  expect([...seen.keys()].sort()).toEqual([
    'complete',
    'equal',
    'no baseline',
    'no supply',
    'not measured',
    'nothing burned',
    'part of a baseline',
    'partial',
    'share',
    'unknown supply',
    'whole baseline',
  ])
})
