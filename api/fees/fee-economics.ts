import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import {
  FeeDistributionRow,
  feeDistributionSums,
  feeElectionCounts,
  feeOverview,
  recentFeeDistributions,
} from '../../clickhouse/fees/fees.js'
import { stablecoinNames } from '../../clickhouse/stablecoins/stablecoins.js'
import { stableAddress, stableSymbol } from '../../clickhouse/store/values.js'
import { AsOfEcho, allUntil } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { Label, labelOf } from '../stablecoins/labels.js'

const tokens = z.number().nonnegative().meta({ description: 'In whole tokens' })
const count = z.int().nonnegative()

const FeeEconomics = z.object({
  as_of: AsOfEcho,
  totals: z
    .object({
      users_electing: count.meta({ description: 'Users who have chosen a fee token' }),
      validators_electing: count.meta({ description: 'Validators who have chosen a fee token' }),
      fees_distributed_7d_tokens: tokens,
      fees_distributed_all_time_tokens: tokens,
      distribution_count: count.meta({ description: 'Number of payments to validators' }),
    })
    .meta({ description: 'Over all stables' }),
  stablecoins: z
    .array(
      z.object({
        address: stableAddress,
        symbol: stableSymbol,
        name: z.string().meta({ description: 'Name of the stable, as its issuer wrote it' }),
        users_electing: count.meta({ description: 'Users whose last choice is this stable' }),
        validators_electing: count.meta({ description: 'Validators whose last choice is this stable' }),
        fees_received_24h_tokens: tokens,
        fees_received_7d_tokens: tokens,
        fees_received_all_time_tokens: tokens,
        share_of_fees_7d_pct: tokens
          .nullable()
          .meta({ description: 'In percent; null when no fees were distributed in seven days' }),
        distribution_count: count.meta({ description: 'Number of payments to validators in it' }),
      }),
    )
    .meta({ description: 'Every stable, the one with the most fees in seven days first' }),
  recent_distributions: z
    .array(FeeDistributionRow.extend({ validator_label: Label }))
    .meta({ description: 'The last ten, newest first' }),
  coverage: Coverage,
})

export const feeEconomicsRoute = endpoint({
  path: '/fee-economics/overview',
  tag: 'fees',
  operationId: 'getFeeEconomics',
  summary: 'Which stables are chosen for fees, and what validators were paid in each',
  description: 'Computed from the logs of the chain’s fee manager, up to now or to any time.',
  about: 'moment',
  response: FeeEconomics,
  cache: CACHE_POLICIES.feeEconomics,
  covers: ({ at }) => ({ families: ['logs'], ...allUntil(at) }),
  answer: async ({ app, at, signal }) => {
    const [stables, elections, sums, recent] = await Promise.all([
      stablecoinNames(app.clickhouse, { at }, { signal }),
      feeElectionCounts(app.clickhouse, { at }, { signal }),
      feeDistributionSums(app.clickhouse, { at }, { signal }),
      recentFeeDistributions(app.clickhouse, { at }, { signal }),
    ])
    return {
      ...feeOverview(stables, elections, sums),
      recent_distributions: recent.map((paid) => ({ ...paid, validator_label: labelOf(paid.validator, at) })),
    }
  },
})
