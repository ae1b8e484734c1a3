import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { insertExcursions, type PegExcursion } from '../../../../clickhouse/peg/excursions.js'
import type { PolicyEvent } from '../../../../clickhouse/stablecoins/administration.js'
import type { StateRead } from '../../../../clickhouse/stablecoins/states.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { type Break, type Breaks, riskAt } from '../../../../oracle/risk.js'
import { test } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { snapshotFacts } from '../../../support/oracle/snapshot-facts.js'
import { policyEvent } from '../../../support/policy-events.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  type Tick,
} from '../../../support/rows.js'
import { skipSlots, slotAt, slotsOf } from '../../../support/slots.js'

const STABLE = stableAddress(1)
const DAY = 86_400
const UNCAPPED = String(2n ** 128n - 1n)

type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => Record<string, unknown> }> }

const risk = async (app: App, asOf: number, stable = STABLE) =>
  (await app.inject(`/api/v1/stablecoins/${stable}/risk?as_of=${asOf}`)).json()

/** The five-minute mark before the API's now. */
const markOf = ({ now }: { now: Date }): number => Math.floor(now.getTime() / 300_000) * 300

/** Each as the slot wrote it that saw it end, or the newest slot. */
async function addPegEvents(clickhouse: ClickHouseClient, rows: PegExcursion[]): Promise<void> {
  const newest = Math.floor(Date.now() / 1000)
  await insertExcursions(
    clickhouse,
    'published',
    rows.map((row) => ({ ...row, revision: 0, slot_at: row.ended_at ?? newest, is_deleted: 0 as const })),
  )
}

const pegEvent = (started_at: number, changes: Partial<PegExcursion> = {}): PegExcursion => ({
  stable: STABLE,
  severity: 'mild',
  direction: 'below',
  started_at,
  started_block: started_at,
  confirmed_at: started_at + 300,
  ended_at: null,
  ended_block: null,
  max_deviation_micros: 2000,
  standing_tokens: null,
  ...changes,
})

describe('inputs', () => {
  /** Times on five-minute marks, so that many lie on the very edge of a window. */
  const mark = (random: Random, end: number, days: number): number => end - random.int(0, days * 288) * 300

  function randomEvents(random: Random, end: number, stable: string): PegExcursion[] {
    return (['mild', 'severe'] as const).flatMap((severity) => {
      const events: PegExcursion[] = []
      for (let at = end - 20 * DAY; at < end; at += random.int(1, 900) * 300) {
        const lasts = random.int(1, 300) * 300
        const isOver = at + lasts < end
        const confirmed_at = random.chance(0.1) ? null : at + random.int(1, 3) * 300
        if (isOver || random.chance(0.5))
          events.push(
            pegEvent(at, { stable, severity, confirmed_at, ended_at: isOver ? at + Math.max(lasts, 900) : null }),
          )
        at += lasts
      }
      return events
    })
  }

  /** Times of blocks, in each of which every stable is sampled. */
  function randomTimes(random: Random, end: number): number[] {
    const times: number[] = []
    for (let at = end - 10 * DAY; at <= end; at += random.chance(0.05) ? random.int(1, 500) * 300 : 300) times.push(at)
    return times
  }

  function randomTicks(random: Random, times: readonly number[]): Tick[] {
    const ticks: Tick[] = []
    let isLost = false
    for (const at of times) {
      // Single samples without a quote, and hours without any.
      if (random.chance(0.02)) isLost = !isLost
      const isQuoted = !isLost && !random.chance(0.1)
      ticks.push({ at, price: isQuoted ? 1_000_000 + random.int(-3000, 3000) : 'no_liquidity' })
    }
    return ticks
  }

  const randomState = (random: Random, stable: string, at: number): StateRead => {
    const cap = random.pick([UNCAPPED, '0', '9000000', '5000000000'])
    return stateRead(stable, {
      supply_raw: String(random.int(0, 9_000_000)),
      cap_raw: cap,
      paused: random.chance(0.1),
      policy_id: String(random.int(0, 9)),
      policy_type: random.pick(['reject_all', 'allow_all', 'whitelist', 'blacklist', 'compound']),
      block_time: at,
      block_number: at,
    })
  }

  const randomPolicyEvent = (random: Random, at: number, stables: readonly string[]): PolicyEvent => {
    const kind = random.pick(['token_policy', 'created', 'admin', 'whitelist', 'blacklist', 'receive_policy'] as const)
    const policy_id = kind === 'receive_policy' ? null : String(random.int(2, 9))
    return policyEvent(at, { kind, policy_id, stable: kind === 'token_policy' ? random.pick(stables) : null })
  }

  test('equal, at every slot, those computed from the raw facts and the known peg events', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = markOf(clock)
    const random = randomFor(3, 'facts')
    const stables = [1, 2, 3, 4].map(stableAddress)
    const blocks = randomTimes(random, end)
    const times = (count: number, days: number): number[] =>
      [...new Set(Array.from({ length: count }, () => mark(random, end, days)))].sort((a, b) => a - b)
    const events = stables.flatMap((stable) => randomEvents(random, end, stable))
    await addBlocks(clickhouse, [end - 20 * DAY], 0)
    await addBlocks(clickhouse, blocks)
    await addFacts(clickhouse, {
      // One stable is created in the middle of the period.
      stablecoins: stables.map((_, i) => stablecoin(i + 1, { block_time: i === 3 ? end - 5 * DAY : end - 30 * DAY })),
      samples: stables.flatMap((stable) => pegSamples(stable, randomTicks(random, blocks))),
      states: stables.flatMap((stable) => times(40, 20).map((at) => randomState(random, stable, at))),
    })
    const compound = policyEvent(end - 15 * DAY, {
      kind: 'compound_created',
      policy_id: '5',
      sender_policy_id: '6',
      recipient_policy_id: '7',
      mint_recipient_policy_id: '1',
    })
    const policyEvents = [compound, ...times(60, 20).map((at) => randomPolicyEvent(random, at, stables))]
    await insertFacts(clickhouse, 'policy_events', policyEvents, 'policies')
    await addPegEvents(clickhouse, events)

    const facts = await snapshotFacts(clickhouse)
    const breaksOf = (_: unknown, stable: string, at: number): Breaks => {
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
    for (const at of times(depth('INSTANTS', 20, 60), 19)) {
      await snapshotRisk(clickhouse, slotAt('risk', at))
      for (const stable of stables) {
        const expected = riskAt(facts, stable, at, breaksOf)
        if (expected === null) continue
        const { components, composite, computed_at } = await risk(app, at, stable)
        expect({ components, computed_at }, `${stable} at ${at}`).toEqual({
          components: expected.components,
          computed_at: expected.computed_at,
        })
        expect(composite).toBeCloseTo(expected.composite, 9)
      }
    }
  })

  test('of a stable without measurements are null, and each scores as the worst', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const at = markOf(clock)
    await addBlocks(clickhouse, [at - DAY, at])
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    expect(await snapshotRisk(clickhouse, slotAt('risk', at))).toBe(2)
    expect(await risk(app, at)).toMatchObject({
      composite: 70,
      components: { peg_risk: 100, peg_break_risk: 0, supply_risk: 100, policy_risk: 100 },
      inputs: {
        stddev_bps_24h: null,
        max_deviation_bps_24h: null,
        unquoted_share_24h: null,
        quoted_count_24h: 0,
        supply: null,
        policy: null,
      },
      coverage: { status: 'partial', message: expect.stringContaining('not sampled') },
    })
  })

  test('of a paused stable without a cap explain its score', async ({ app, clickhouse, clock }) => {
    const at = markOf(clock)
    await addBlocks(clickhouse, [at - DAY, at])
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(1)],
      samples: pegSamples(STABLE, [
        { at: at - 120, price: 999_000 },
        { at: at - 60, price: 1_001_000 },
        { at: at + 1, price: 900_000 },
      ]),
      states: [
        stateRead(STABLE, { cap_raw: UNCAPPED, paused: true, policy_id: '4', block_time: at, block_number: 2 }),
        stateRead(STABLE, { block_time: at + 1, block_number: 3 }),
      ],
    })
    await addPegEvents(clickhouse, [
      pegEvent(at - DAY, { ended_at: at + 1 }),
      pegEvent(at - 60, { severity: 'severe', confirmed_at: null }),
      pegEvent(at - 7 * DAY - 900, { ended_at: at - 7 * DAY }),
      pegEvent(at - 7 * DAY - 600, { severity: 'severe', ended_at: at - 7 * DAY + 1 }),
    ])
    const takes = (time: number) => policyEvent(time, { kind: 'token_policy', stable: STABLE, policy_id: '4' })
    const lists = (time: number) => policyEvent(time, { policy_id: '4', log_index: 1 })
    const weekAgo = at - 7 * DAY
    await insertFacts(
      clickhouse,
      'policy_events',
      [takes(weekAgo), lists(weekAgo), takes(weekAgo + 1), lists(weekAgo + 1), takes(at), lists(at), lists(at + 1)],
      'policies',
    )
    // Risk counts the breaks of a week, all of which has been searched for them.
    await skipSlots(clickhouse, slotsOf({ job: 'peg-events', periodSeconds: 120 }, at - 8 * DAY, at))
    await snapshotRisk(clickhouse, slotAt('risk', at))
    expect(await risk(app, at)).toEqual({
      address: STABLE,
      methodology: 'v3',
      computed_at: new Date(at * 1000).toISOString(),
      // 100 (1 - exp(-(2 x 10 + 10) / 60)); 40 + 5 + 15; uncapped; paused.
      components: { peg_risk: 39.35, peg_break_risk: 60, supply_risk: 100, policy_risk: 100 },
      composite: 63.74,
      extended: expect.objectContaining({ version: 'e3' }),
      inputs: {
        quoted_count_24h: 2,
        unquoted_count_24h: 0,
        unquoted_share_24h: 0,
        unquoted_since: null,
        stddev_bps_24h: 10,
        max_deviation_bps_24h: 10,
        has_open_mild: true,
        has_open_severe: false,
        mild_events_7d: 1,
        severe_events_7d: 1,
        supply: { current: '5000000', cap: null },
        policy: { type: 'allow_all', policy_id: '4', paused: true },
        state_block_number: 2,
        policy_events_7d: 4,
      },
      coverage: expect.objectContaining({ status: 'complete', message: 'Every component was measured.' }),
      published_at: expect.any(String),
      revision: 0,
      is_newest_revision: true,
    })
  })
})
