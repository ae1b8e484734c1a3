import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { insertExcursions, type PegExcursion } from '../../../../clickhouse/peg/excursions.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import type { PegSample } from '../../../../clickhouse/peg/samples.js'
import type { PolicyEvent } from '../../../../clickhouse/stablecoins/administration.js'
import { snapshotHolders } from '../../../../jobs/snapshot/holders.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { extendedRiskAt } from '../../../../oracle/extended-risk.js'
import { type Break, type Breaks, riskAt } from '../../../../oracle/risk.js'
import { iso } from '../../../../oracle/rows.js'
import { type Body, extendedOf } from '../../../../tools/verify/answers/questions.js'
import { test } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { account, addRows } from '../../../support/economy-rows.js'
import { expectSame } from '../../../support/oracle/same.js'
import { snapshotFacts } from '../../../support/oracle/snapshot-facts.js'
import { policyEvent } from '../../../support/policy-events.js'
import { randomTransfers } from '../../../support/random-transfers.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  transfer,
} from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const SLOT = 300
const HOUR = 3600
const DAY = 86_400
const ZERO = `0x${'0'.repeat(40)}`
const STABLE = stableAddress(1)
const MOST = 2n ** 128n - 1n
const SIZES = [1_000, 10_000, 100_000, 1_000_000]

type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => Body }> }

const riskOf = async (app: App, at: number, stable = STABLE, query = ''): Promise<Body> =>
  (await app.inject(`/api/v1/stablecoins/${stable}/risk?as_of=${at}${query}`)).json()

const markOf = ({ now }: { now: Date }): number => Math.floor(now.getTime() / (SLOT * 1000)) * SLOT

const depthRow = (
  stable: string,
  at: { block_number: number; block_time: number },
  size: number,
  sold: number | string,
) =>
  ({
    stable,
    size_tokens: size,
    ...at,
    sell_status: typeof sold === 'string' ? sold : 'quoted',
    sell_raw: typeof sold === 'string' ? null : `${sold}`,
    buy_status: 'no_liquidity',
    buy_raw: null,
  }) as DepthSample

const EVERY = ['catalogue', 'logs', 'pegs', 'state', 'transfers'] as const
const without = (family: (typeof EVERY)[number]) => EVERY.filter((one) => one !== family)
const HOLES = [
  { from: 1, to: 120, families: EVERY },
  { from: 121, to: 123, families: without('pegs') },
  { from: 124, to: 260, families: EVERY },
  { from: 264, to: 400, families: EVERY },
  { from: 401, to: 403, families: without('state') },
  { from: 404, to: 480, families: EVERY },
  { from: 481, to: 600, families: without('transfers') },
]

/** Breaks that may have begun and ended at any time, some not confirmed. */
function randomBreaks(random: Random, stable: string, start: number, end: number): PegExcursion[] {
  return (['mild', 'severe'] as const).flatMap((severity) =>
    Array.from({ length: 6 }, () => {
      const started_at = random.int(start, end)
      const lasts = random.int(1000, 2 * DAY)
      return {
        stable,
        severity,
        direction: 'below' as const,
        started_at,
        started_block: started_at,
        confirmed_at: random.chance(0.1) ? null : started_at + random.int(60, 900),
        ended_at: random.chance(0.8) ? started_at + lasts : null,
        ended_block: null,
        standing_tokens: null,
        max_deviation_micros: 6000,
      }
    }),
  )
}

const breaksOf =
  (events: readonly PegExcursion[]) =>
  (_: unknown, stable: string, at: number): Breaks => {
    const known = (severity: string): Break[] =>
      events
        .filter((event) => event.stable === stable && event.severity === severity)
        .filter(({ confirmed_at }) => confirmed_at !== null && confirmed_at <= at)
        .map(({ started_at: startedAt, ended_at }) => ({
          startedAt,
          endedAt: ended_at !== null && ended_at <= at ? ended_at : null,
        }))
    return { mild: known('mild'), severe: known('severe') }
  }

describe.each([
  ['whole', [{ from: 1, to: 600, families: EVERY }], false],
  ['whole, with kept balances', [{ from: 1, to: 600, families: EVERY }], true],
  ['with holes', HOLES, true],
] as const)('of a history that is %s', (name, stretches, hasSnapshots) => {
  test('extended scores follow from the raw facts, at any slot', async ({ app, clickhouse, clock }) => {
    const start = Math.floor(clock.now.getTime() / 1000) - 50 * DAY
    const { stables, times, factsOf, add } = randomTransfers(47, start, stretches)
    await add(clickhouse)
    const [first, last] = [times[0] as number, times.at(-1) as number]
    const random = randomFor(47, name)
    const { stored } = factsOf(STABLE)
    const createdAt = stables.map((stable) => factsOf(stable).created?.block_time ?? 0)
    const samples: PegSample[] = []
    const depths: DepthSample[] = []
    const policyEvents: PolicyEvent[] = []
    for (const [i, block_time] of times.entries()) {
      const at = { block_number: i + 1, block_time }
      if (stored.isStored('logs', i + 1) && random.chance(0.02))
        policyEvents.push(policyEvent(block_time, { kind: 'whitelist', policy_id: '1', block_number: i + 1 }))
      if (!stored.isStored('pegs', i + 1)) continue
      for (const [j, stable] of stables.entries()) {
        if (block_time < (createdAt[j] as number)) continue
        const most = [0, 100, 500, 3000, 15_000, 50_000, 0][j] as number
        const price = random.chance(j === 0 ? 0 : 0.03)
          ? ('no_liquidity' as const)
          : 1_000_000 + random.int(-most, most)
        samples.push(...pegSamples(stable, [{ at: block_time, price }], i + 1))
        if (random.chance(0.1)) continue
        for (const size of SIZES) {
          const sold = random.chance(0.15)
            ? random.pick(['no_liquidity', 'no_pair', 'failed', 'out_of_range', 'too_deep'])
            : Math.round(size * (1_000_000 - random.int(-30, j * 40) * Math.log10(size)))
          depths.push(depthRow(stable, at, size, sold))
        }
      }
    }
    await addFacts(clickhouse, { samples, depths })
    await addRows(clickhouse, { policy_events: policyEvents })
    const events = stables.flatMap((stable) => randomBreaks(random, stable, first, last))
    await insertExcursions(
      clickhouse,
      'published',
      events.map((row) => ({ ...row, revision: 0, slot_at: row.ended_at ?? last, is_deleted: 0 as const })),
    )
    if (hasSnapshots)
      for (let i = 0; i < 6; i++)
        await snapshotHolders(
          clickhouse,
          slotAt('holders', Math.floor(random.int(first + HOUR, last - 1) / HOUR) * HOUR),
          undefined,
          () => true,
        )

    const snapshot = await snapshotFacts(clickhouse)
    const seen = new Set<string>()
    for (let i = 0; i < depth('INSTANTS', name === 'with holes' ? 12 : 6, 16); i++) {
      const at = Math.floor(random.int(first + SLOT, last - 1) / SLOT) * SLOT
      await snapshotRisk(clickhouse, slotAt('risk', at))
      for (const stable of stables) {
        const facts = {
          snapshot,
          depth: depths.filter((row) => row.stable === stable),
          transfers: factsOf(stable).transfers,
          stored,
        }
        const expected = extendedRiskAt(facts, stable, at, breaksOf(events))
        if (expected === null) continue
        const about = `${stable} at ${at}, ${iso(at)}`
        const answer = await riskOf(app, at, stable)
        expectSame(extendedOf(answer), expected, about)
        // What the answer had before is what it was.
        const composite = riskAt(snapshot, stable, at, breaksOf(events))
        expectSame(answer.components, composite?.components, about)
        for (const input of expected.missing) seen.add(input)
        seen.add(expected.left_out.join() || 'everything counts').add(expected.is_complete ? 'complete' : 'incomplete')
      }
    }
    const wanted = ['complete', 'exit_cost_bps_1000', 'everything counts', 'hhi', 'incomplete']
    const lost = ['concentration', 'has_open_mild', 'headroom_share', 'policy_events_7d', 'rms_bps_24h']
    expect([...seen]).toEqual(expect.arrayContaining(name === 'with holes' ? [...wanted, ...lost] : wanted))
  })
})

/** A stable with a block an hour for eight days, whose last one is at `end`. */
async function addStable(
  clickhouse: ClickHouseClient,
  end: number,
  { supply, cap = MOST, price = 1_000_000 }: { supply: bigint; cap?: bigint; price?: number | 'no_pair' },
): Promise<number[]> {
  const times = Array.from({ length: 8 * 24 + 1 }, (_, i) => end - (8 * 24 - i) * HOUR)
  const created = { block_number: 1, block_time: times[0] as number }
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, created)],
    samples: pegSamples(
      STABLE,
      times.map((at) => ({ at, price })),
    ),
    states: [stateRead(STABLE, { ...created, supply_raw: `${supply}`, cap_raw: `${cap}` })],
  })
  return times
}

const inputsOf = ({ extended }: Body) =>
  Object.assign(
    {},
    ...(extendedOf({ extended }) as { components: { inputs: object }[] }).components.map((one) => one.inputs),
  )

const componentOf = ({ extended }: Body, name: string) =>
  (extended as { components: Body[] }).components.find((one) => one.name === name)

describe('at the edges', () => {
  test('a supply of 2^128 - 1 with one holder, and no pair and no depth', async ({ app, clickhouse, clock }) => {
    const end = markOf(clock) - SLOT
    const times = await addStable(clickhouse, end + SLOT, { supply: MOST, price: 'no_pair' })
    const first = { block_number: 1, block_time: times[0] as number }
    const virtual = `0x58e21090${'fd'.repeat(10)}010203040506`
    await addRows(clickhouse, {
      transfers: [
        transfer(STABLE, { ...first, kind: 'mint', sender: ZERO, recipient: account(1), amount_raw: `${MOST}` }),
        // A virtual address has nothing.
        transfer(STABLE, { ...first, sender: account(1), recipient: virtual, amount_raw: `${MOST}`, log_index: 1 }),
        transfer(STABLE, {
          ...first,
          kind: 'forward',
          sender: virtual,
          recipient: account(2),
          amount_raw: `${MOST}`,
          log_index: 2,
        }),
      ],
    })
    await snapshotRisk(clickhouse, slotAt('risk', end))
    const answer = await riskOf(app, end)
    expect(answer.extended).toMatchObject({ is_complete: false, left_out: [], version: 'e3' })
    expect(inputsOf(answer)).toMatchObject({ hhi: 10_000, headroom_share: 1, exit_share: null, rms_bps_24h: 2000 })
    const costs = SIZES.map((size) => `exit_cost_bps_${size}`)
    expect((answer.extended as Body).missing).toEqual(['shortfall_bps_24h', 'exit_share', ...costs])
    // Never sold, all held by one, no cap.
    for (const name of ['peg', 'liquidity', 'concentration', 'issuance'])
      expect(componentOf(answer, name), name).toMatchObject({ score: 100, raised_most_by: null })
    // Nobody ever bid for it.
    expect(componentOf(answer, 'breaks')).toMatchObject({ score: 85, weight: 0.2 })
  })

  test('a stable that nobody holds, and one that is measured completely', async ({ app, clickhouse, clock }) => {
    const end = markOf(clock) - SLOT
    const times = await addStable(clickhouse, end + SLOT, { supply: 0n, cap: 10n ** 12n })
    const depths = times.flatMap((block_time, i) =>
      SIZES.map((size) => depthRow(STABLE, { block_number: i + 1, block_time }, size, size * 999_900)),
    )
    await addFacts(clickhouse, { depths })
    await snapshotRisk(clickhouse, slotAt('risk', end))
    const answer = await riskOf(app, end)
    expect(answer.extended).toMatchObject({
      is_complete: true,
      missing: [],
      left_out: [],
      message: 'Every input is known.',
    })
    expect(inputsOf(answer)).toEqual({
      rms_bps_24h: 0,
      shortfall_bps_24h: 1,
      has_open_mild: false,
      has_open_severe: false,
      unquoted_seconds: 0,
      mild_events_7d: 0,
      severe_events_7d: 0,
      exit_share: 1,
      exit_cost_bps_1000: 1,
      hhi: 10_000,
      headroom_share: 1,
      paused: false,
      policy_type: 'allow_all',
      policy_events_7d: 0,
    })
    expect(componentOf(answer, 'liquidity')).toMatchObject({
      score: 0.5,
      raised_most_by: { input: 'exit_share', event: 'nobody buys any of the sampled sizes within 50 bps', score: 50.5 },
      lowered_most_by: { input: 'exit_cost_bps_1000', event: '1000 tokens can be sold at 1', score: 0 },
    })

    // A score of an older formula keeps its inputs, and is not called incomplete for lack of a later one.
    const asStored = "version = 'e2', shortfall_bps_24h = NULL"
    const query = `ALTER TABLE extended_snapshots UPDATE ${asStored} WHERE true SETTINGS mutations_sync = 1`
    await clickhouse.command({ query })
    const older = await riskOf(app, end)
    expect(older.extended).toMatchObject({ version: 'e2', is_complete: true, missing: [] })
    expect(componentOf(older, 'peg')).toMatchObject({
      inputs: [{ name: 'rms_bps_24h', value: 0 }],
      raised_most_by: null,
      lowered_most_by: null,
    })
  })

  test('the price and the exit of the reference stable are left out', async ({ app, clickhouse, clock }) => {
    const end = markOf(clock) - SLOT
    const times = Array.from({ length: 50 }, (_, i) => end + SLOT - (49 - i) * HOUR)
    await addBlocks(clickhouse, times)
    const own = { stable: REFERENCE_STABLE, block_number: 1, block_time: times[0] as number }
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(1, own)],
      samples: pegSamples(
        REFERENCE_STABLE,
        times.map((at) => ({ at, price: 'anchor' as const })),
      ),
      states: [stateRead(REFERENCE_STABLE, { ...own, supply_raw: '0' })],
    })
    await snapshotRisk(clickhouse, slotAt('risk', end))
    const { extended } = await riskOf(app, end, REFERENCE_STABLE)
    expect(extended).toMatchObject({
      left_out: ['peg', 'breaks', 'liquidity'],
      is_complete: true,
      components: [
        { name: 'concentration', weight: 1 / 3 },
        { name: 'issuance', weight: 1 / 3 },
        { name: 'policy', weight: 1 / 3 },
      ],
    })
  })
})

test('an extended score is answered as it was known', async ({ app, clickhouse, clock }) => {
  const end = markOf(clock) - 2 * SLOT
  const times = await addStable(clickhouse, end + SLOT, { supply: 0n, cap: 10n ** 12n })
  const published = (seconds: number) => () => new Date((end + seconds) * 1000)
  await snapshotRisk(clickhouse, slotAt('risk', end), published(10))
  const without = await riskOf(app, end)
  const at = { block_number: times.length - 1, block_time: times.at(-2) as number }
  await addFacts(clickhouse, { depths: SIZES.map((size) => depthRow(STABLE, at, size, size * 999_900)) })
  // The composite does not change, so only the extended score is published again.
  expect(await snapshotRisk(clickhouse, slotAt('risk', end, 1), published(200))).toBe(1)
  const known = await riskOf(app, end, STABLE, `&known_at=${end + 100}`)
  expect(known.extended).toEqual(without.extended)
  const { extended } = await riskOf(app, end)
  expect((extended as { score: number }).score).toBeLessThan((without.extended as { score: number }).score)
})
