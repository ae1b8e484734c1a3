import { z } from 'zod'
import { Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { databaseChainId } from '../../clickhouse/chain/identity.js'
import {
  measuredDays,
  RATE_DAYS,
  RewardDistributionRow,
  RewardFunder,
  RewardOptIns,
  recentRewardDistributions,
  rewardDistributionSums,
  rewardOptIns,
  rewardPool,
  rewardsCoverage,
  rewardsEndedAt,
  topRewardFunders,
  yearlyPct,
} from '../../clickhouse/rewards/rewards.js'
import { integerText, stableAddress } from '../../clickhouse/store/values.js'
import { AsOfEcho, allUntil } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { Label, labelOf } from './labels.js'

const tokens = z.number().nonnegative()

/** Reads of the current state of the chain; answers about the past contain only the sums. */
const LiveReads = z.object({
  effective_apy_pct: tokens
    .nullable()
    .meta({ description: 'In percent: last_7d_tokens / opted_in_tokens x 365/7 x 100, however young the stable is' }),
  measured_days: tokens.nullable().meta({
    description:
      'Days of these seven that are measured: since the stable was made and its logs are read, without holes; null if none are',
  }),
  apr_pct: tokens.nullable().meta({
    description: 'In percent: last_7d_tokens / opted_in_tokens x 365/measured_days x 100; null with less than one day',
  }),
  opted_in_supply: integerText.nullable().meta({ description: 'In base units: 6 decimals' }),
  opted_in_tokens: tokens.nullable().meta({ description: 'The same in whole tokens' }),
  global_reward_per_token: integerText
    .nullable()
    .meta({ description: 'Base units earned by one base unit opted in since the start, times 1e18' }),
})

const Rewards = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  ...LiveReads.partial().shape,
  distribution_count: z.int().nonnegative().meta({ description: 'Number of distributions' }),
  distributed: z
    .object({
      last_24h_tokens: tokens.meta({ description: 'In whole tokens' }),
      last_7d_tokens: tokens.meta({ description: 'In whole tokens' }),
      all_time_tokens: tokens.meta({ description: 'In whole tokens' }),
    })
    .meta({ description: 'Amounts distributed to holders' }),
  opt_in: RewardOptIns.meta({ description: 'How many take part' }),
  top_funders: z.array(RewardFunder.extend({ label: Label })).meta({ description: 'Top ten funders, descending' }),
  recent_distributions: z
    .array(RewardDistributionRow.extend({ funder_label: Label }))
    .meta({ description: 'The last ten, newest first' }),
  coverage: Coverage,
})

const NEVER_READ = { opted_in_supply: null, opted_in_tokens: null, global_reward_per_token: null }

export const rewardsRoute = endpoint({
  path: '/stablecoins/:address/rewards',
  tag: 'rewards',
  operationId: 'getRewards',
  summary: 'Rewards paid to the holders of a stable, their funders, and how many holders take part',
  description: 'Live answers include the state of the pool; answers about the past contain only the sums.',
  about: 'moment',
  response: Rewards,
  cache: CACHE_POLICIES.rewards,
  covers: ({ stable, at, since }) => ({ families: ['logs'], logsOf: ['token'], stable, since, ...allUntil(at) }),
  answer: async ({ app, stable, at, asOf, cutoff, since, ledger, coverage, reads }) => {
    const params = { stable, at: cutoff }
    const [sums, funders, recent, opt_in, lastRead, chainId] = await Promise.all([
      rewardDistributionSums(app.clickhouse, params, reads),
      topRewardFunders(app.clickhouse, params, reads),
      recentRewardDistributions(app.clickhouse, params, reads),
      rewardOptIns(app.clickhouse, params, reads),
      rewardPool(app.clickhouse, params, reads),
      databaseChainId(app.clickhouse, reads),
    ])
    const pool = lastRead ?? NEVER_READ
    const endedAt = rewardsEndedAt(chainId, at)
    const { distribution_count, ...distributed } = sums
    const measured_days = measuredDays(ledger, since?.block_time ?? 0, cutoff.getTime() / 1000)
    const rateOver = (days: number | null): number | null =>
      endedAt ? null : yearlyPct(distributed.last_7d_tokens, pool.opted_in_tokens, days)
    const rates = { effective_apy_pct: rateOver(RATE_DAYS), measured_days, apr_pct: rateOver(measured_days) }
    return {
      address: stable,
      ...(asOf === null && { ...rates, ...pool }),
      distribution_count,
      distributed,
      opt_in,
      top_funders: funders.map((funder) => ({ ...funder, label: labelOf(funder.address, at) })),
      recent_distributions: recent.map((distribution) => ({
        ...distribution,
        funder_label: labelOf(distribution.funder, at),
      })),
      coverage: withState(
        coverage,
        rewardsCoverage({ isRead: asOf !== null || pool.opted_in_supply !== null, endedAt }),
      ),
    }
  },
})
