import { describe, expect } from 'vitest'
import { HOLDER_WINDOWS, type HolderWindow } from '../../../../clickhouse/holders/figures.js'
import { snapshotHolders } from '../../../../jobs/snapshot/holders.js'
import { randomFor } from '../../../../local/chain/random.js'
import { holdersAt } from '../../../../oracle/holders.js'
import { iso } from '../../../../oracle/rows.js'
import { test } from '../../../support/app.js'
import { expectSame } from '../../../support/oracle/same.js'
import { randomTransfers, WHOLE, WITH_HOLES } from '../../../support/random-transfers.js'
import { slotAt } from '../../../support/slots.js'

const DAY = 86_400
const HOUR = 3600
const SEED = 44

type Answer = {
  holder_count: number | null
  top_holders: { balance: string }[]
  activity: { new_holders: number; leaving_holders: number; velocity: number | null } | null
  coverage: { status: string }
}

/** The names of the cases that an answer is one of. */
const casesOf = ({ holder_count, activity, top_holders, coverage }: Answer): string[] => [
  coverage.status,
  holder_count === null ? 'unknown' : holder_count > 1 ? 'many' : holder_count === 1 ? 'one' : 'none',
  ...(holder_count !== null && holder_count > 100 ? ['over a hundred'] : []),
  ...(activity && activity.new_holders > 0 ? ['new'] : []),
  ...(activity && activity.leaving_holders > 0 ? ['leaving'] : []),
  ...(activity?.velocity === null ? ['no supply'] : []),
  ...(new Set(top_holders.map(({ balance }) => balance)).size < top_holders.length ? ['equal'] : []),
]

describe.each([
  ['whole, with snapshots', WHOLE, true, ['complete', 'equal', 'leaving', 'many', 'new', 'no supply', 'none', 'one']],
  ['whole, without snapshots', WHOLE, false, ['complete', 'equal', 'leaving', 'many', 'new', 'no supply', 'none']],
  ['with holes, and snapshots', WITH_HOLES, true, ['complete', 'leaving', 'many', 'new', 'unknown']],
] as const)('of a history that is %s', (name, stretches, hasSnapshots, wanted) => {
  test('holders follow from the single transfers, for every stable at any instant', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const start = Math.floor(clock.now.getTime() / 1000) - 50 * DAY
    const { stables, times, factsOf, add } = randomTransfers(SEED, start, stretches)
    await add(clickhouse)
    const [first, last] = [times[0] as number, times.at(-1) as number]
    const random = randomFor(SEED, name)
    if (hasSnapshots) {
      // Each ends an hour with a block. In any order, as slots that are done again come after later ones.
      const slots = Array.from({ length: 12 }, () => Math.ceil(random.pick(times) / HOUR) * HOUR)
      let rows = 0
      for (const slot of slots)
        rows += await snapshotHolders(clickhouse, slotAt('holders', slot), undefined, () => true)
      expect(rows).toBeGreaterThan(0)
    }
    const seen = new Set<string>()
    for (let i = 0; i < 80; i++) {
      const edge = random.pick(times) + random.pick([0, 1, 7, 30]) * DAY - random.int(0, 1)
      const at = Math.max(first, Math.min(last, random.chance(0.5) ? random.int(first, last) : edge))
      const stable = stables[i % stables.length] as string
      const facts = factsOf(stable)
      if ((facts.created?.block_time ?? 0) > at) continue
      const window = random.pick(Object.keys(HOLDER_WINDOWS)) as HolderWindow
      const limit = random.int(1, 100)
      const about = `${stable} at ${at}, ${iso(at)}, ${window}`
      const query = { as_of: `${at}`, window, limit: `${limit}` }
      const response = await app.inject({ url: `/api/v1/stablecoins/${stable}/holders`, query })
      expect(response.statusCode, about).toBe(200)
      const answer = response.json()
      const { address, as_of, coverage, ...figures } = answer
      expect([address, as_of], about).toEqual([stable, iso(at)])
      const published = {
        ...figures,
        top_holders: figures.top_holders.map(({ label, ...holder }: { label: string | null }) => holder),
      }
      expectSame(published, holdersAt(facts, { stable, at, window, limit }), about)
      expect(coverage.status === 'unavailable', about).toBe(figures.holder_count === null)
      for (const one of casesOf(answer)) seen.add(one)
    }
    expect([...seen]).toEqual(expect.arrayContaining([...wanted]))
  })
})
