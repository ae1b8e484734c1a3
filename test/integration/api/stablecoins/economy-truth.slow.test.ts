import type { ClickHouseClient } from '@clickhouse/client'
import pLimit from 'p-limit'
import { pino } from 'pino'
import { expect } from 'vitest'
import type { z } from 'zod'
import { buildApp } from '../../../../api/app.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { feesAt } from '../../../../oracle/fees.js'
import { liveReadsAt, rewardsAt } from '../../../../oracle/rewards.js'
import { rolesAt } from '../../../../oracle/roles.js'
import { type EconomyFacts, iso } from '../../../../oracle/rows.js'
import { stablecoinsAt, supplyEventsAt } from '../../../../oracle/stablecoins.js'
import { useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { addRows } from '../../../support/economy-rows.js'
import { ingestAll } from '../../../support/ingest.js'
import { economyFacts } from '../../../support/oracle/economy-facts.js'
import { expectSame } from '../../../support/oracle/same.js'
import { randomEconomy } from '../../../support/random-economy.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { FeeEconomics } from '../../../support/spec/fee-economics.js'
import { LiveRewards, PastRewards } from '../../../support/spec/rewards.js'
import { Roles } from '../../../support/spec/roles.js'
import { StablecoinDetail, StablecoinList } from '../../../support/spec/stablecoins.js'

// Blocks an hour apart over twelve days, so that the windows of a day and a week exclude some.
const BLOCKS = 300

const chain = useStillChain({ historyBlocks: BLOCKS, blockSeconds: 3600, seed: 7 })

type App = Awaited<ReturnType<typeof buildApp>>

const appAt = (clickhouse: ClickHouseClient, now: number): Promise<App> =>
  buildApp({ clickhouse, now: () => new Date(now * 1000 + 400), logger: pino({ level: 'silent' }) })

/** Answers have labels, which are not measured. */
const withoutLabels = (rows: readonly Record<string, unknown>[]) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => !key.endsWith('label'))))

type Span = { first: number; last: number }

/** The coverage of everything from `since` to `at`, without its message, when all blocks of the span are stored. */
function coverageOf({ first, last }: Span, at: number, since = first) {
  const from = Math.max(first, since)
  return {
    status: 'complete',
    missing: [],
    missing_count: 0,
    measured_from: iso(from),
    measured_until: iso(Math.max(from, Math.min(at, last))),
  }
}

const withoutMessage = ({ message: _, ...coverage }: { message: string }) => coverage

/**
 * The answers about one stable and about fees at `at`, live where `isLive`, against the oracle, when all blocks of the span
 * are stored.
 */
async function compare(
  app: App,
  facts: EconomyFacts,
  { stable, at, isLive, span }: { stable: string; at: number; isLive: boolean; span: Span },
): Promise<void> {
  const get = async (path: string): Promise<unknown> => {
    const response = await app.inject(`/api/v1/${path}${isLive ? '' : `?as_of=${at}`}`)
    expect(response.headers['x-service-as-of']).toBe(isLive ? undefined : iso(at))
    return response.json()
  }
  const about = `${stable} at ${iso(at)}`
  const echo = isLive ? null : iso(at)
  const rewards = (isLive ? LiveRewards : PastRewards).parse(await get(`stablecoins/${stable}/rewards`))
  const createdAt = facts.stablecoins.find((row) => row.stable === stable)?.at
  expectSame(
    {
      ...rewards,
      coverage: withoutMessage(rewards.coverage),
      top_funders: withoutLabels(rewards.top_funders),
      recent_distributions: withoutLabels(rewards.recent_distributions),
    },
    {
      address: stable,
      as_of: echo,
      ...rewardsAt(facts, stable, at),
      ...(isLive ? liveReadsAt(facts, stable, at) : {}),
      coverage: coverageOf(span, at, createdAt),
    },
    `rewards of ${about}`,
  )
  const fees = FeeEconomics.parse(await get('fee-economics/overview'))
  expectSame(
    {
      ...fees,
      coverage: withoutMessage(fees.coverage),
      recent_distributions: withoutLabels(fees.recent_distributions),
    },
    { as_of: echo, ...feesAt(facts, at), coverage: coverageOf(span, at), next_cursor: null },
    `fees at ${iso(at)}`,
  )
  const roles = Roles.parse(await get(`stablecoins/${stable}/roles`))
  expectSame(roles.roles, rolesAt(facts, stable, at), `roles of ${about}`)
}

/** A stable without what figures.test.ts compares with the routes that it is from. */
function stateOf<Shown extends z.infer<typeof StablecoinList>['stablecoins'][number]>(shown: Shown) {
  const { coverage, tracked, max_deviation_24h_bps, risk_score, open_break, ...state } = shown
  return state
}

/** The list and one of its stables at `at` against the oracle. */
async function compareStates(app: App, facts: EconomyFacts, stable: string, at: number | null, now: number) {
  const query = at === null ? '' : `?as_of=${at}`
  const instant = at ?? now
  const expected = stablecoinsAt(facts, instant)
  const { stablecoins } = StablecoinList.parse((await app.inject(`/api/v1/stablecoins${query}`)).json())
  expectSame(stablecoins.map(stateOf), expected, `list at ${iso(instant)}`)
  const response = await app.inject(`/api/v1/stablecoins/${stable}${query}`)
  const item = expected.find(({ address }) => address === stable)
  if (!item) return expect(response.statusCode).toBe(404)
  const { as_of, role_holders, ...detail } = StablecoinDetail.parse(response.json())
  expectSame(
    { ...stateOf(detail), roles: role_holders.roles },
    {
      ...item,
      recent_supply_events: supplyEventsAt(facts, stable, instant),
      roles: rolesAt(facts, stable, instant),
    },
    `detail of ${stable} at ${iso(instant)}`,
  )
}

/** Instants from `first` to `last`: half of them at the second of a fact, or the second before it. */
function instants(random: Random, facts: EconomyFacts, first: number, last: number, count: number): number[] {
  const eventful = [
    ...facts.fee_elections,
    ...facts.fee_distributions,
    ...facts.reward_distributions,
    ...facts.role_events,
  ]
  return Array.from({ length: count }, () =>
    random.chance(0.5) ? Math.max(first, random.pick(eventful).at - random.int(0, 1)) : random.int(first, last),
  )
}

test('over a random economy every answer at any of many instants equals its definition', async ({ clickhouse }) => {
  const { stables, times, facts: made } = randomEconomy(3, 1_760_000_000)
  await addBlocks(clickhouse, times)
  await addRows(clickhouse, made)
  const facts = await economyFacts(clickhouse)
  const [first, last] = [times[0] as number, times.at(-1) as number]
  const span = { first, last }
  const random = randomFor(3, 'instants')
  const app = await appAt(clickhouse, last + 7)
  const atOnce = pLimit(4)
  await Promise.all(
    instants(random, facts, first, last, depth('INSTANTS', 80, 200))
      .map((at) => ({ at, stable: random.pick(stables) }))
      .map((asked) => atOnce(() => compare(app, facts, { ...asked, span, isLive: false }))),
  )
  for (const stable of stables) {
    await compare(app, facts, { stable, at: last + 7, isLive: true, span })
    await compare(app, facts, { stable, at: last + 7, isLive: false, span })
  }
  await app.close()
}, 600_000)

test('over a market on the chain every answer equals its definition applied to the facts', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const facts = await economyFacts(clickhouse)
  for (const table of ['reward_distributions', 'reward_recipients', 'fee_elections', 'fee_distributions'] as const)
    expect([table, facts[table].length > 2]).toEqual([table, true])
  const times = facts.peg_samples.map(({ at }) => at)
  const [first, last] = [times[0] as number, times.at(-1) as number]
  const rewarded = `${facts.reward_distributions[0]?.stable}`
  const stables = facts.stablecoins.map(({ stable }) => `${stable}`)
  const span = { first, last }
  const random = randomFor(7, 'instants')
  const app = await appAt(clickhouse, last + 40)
  for (const at of instants(random, facts, first, last, depth('INSTANTS', 12, 30))) {
    const stable = random.chance(0.5) ? rewarded : random.pick(stables)
    await compare(app, facts, { stable, at, isLive: false, span })
    await compareStates(app, facts, stable, at, last + 40)
  }
  for (const stable of stables) {
    await compare(app, facts, { stable, at: last + 40, isLive: true, span })
    await compareStates(app, facts, stable, null, last + 40)
  }
  await app.close()
}, 600_000)
