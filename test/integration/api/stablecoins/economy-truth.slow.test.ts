import type { ClickHouseClient } from '@clickhouse/client'
import pLimit from 'p-limit'
import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { feesAt } from '../../../../oracle/fees.js'
import { liveReadsAt, rewardsAt } from '../../../../oracle/rewards.js'
import { rolesAt } from '../../../../oracle/roles.js'
import { type EconomyFacts, iso } from '../../../../oracle/rows.js'
import { depth } from '../../../support/depth.js'
import { addRows } from '../../../support/economy-rows.js'
import { economyFacts } from '../../../support/oracle/economy-facts.js'
import { expectSame } from '../../../support/oracle/same.js'
import { randomEconomy } from '../../../support/random-economy.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

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
 * The answers about one stable and about fees at `at`, which is the newest block if they are live (`isLive`), against the
 * oracle, when all blocks of the span are stored.
 */
async function compare(
  app: App,
  facts: EconomyFacts,
  { stable, at, isLive, span }: { stable: string; at: number; isLive: boolean; span: Span },
): Promise<void> {
  const get = async (path: string) => {
    const response = await app.inject(`/api/v1/${path}${isLive ? '' : `?as_of=${at}`}`)
    expect(response.headers['x-service-as-of']).toBe(isLive ? undefined : iso(at))
    return response.json()
  }
  const about = `${stable} at ${iso(at)}`
  const echo = isLive ? null : iso(at)
  const rewards = await get(`stablecoins/${stable}/rewards`)
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
  const fees = await get('fee-economics/overview')
  expectSame(
    {
      ...fees,
      coverage: withoutMessage(fees.coverage),
      recent_distributions: withoutLabels(fees.recent_distributions),
    },
    { as_of: echo, ...feesAt(facts, at), coverage: coverageOf(span, at), next_cursor: null },
    `fees at ${iso(at)}`,
  )
  const roles = await get(`stablecoins/${stable}/roles`)
  expectSame(roles.roles, rolesAt(facts, stable, at), `roles of ${about}`)
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
    await compare(app, facts, { stable, at: last, isLive: true, span })
    await compare(app, facts, { stable, at: last + 7, isLive: false, span })
  }
  await app.close()
}, 600_000)
