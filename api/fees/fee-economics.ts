import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import {
  FeeDistributionRow,
  feeDistributionSums,
  feeElectionCounts,
  feeOverview,
  isPaidAfter,
  recentFeeDistributions,
} from '../../clickhouse/fees/fees.js'
import { stablecoinNames } from '../../clickhouse/stablecoins/stablecoins.js'
import { stableName, stableSymbol } from '../../clickhouse/stablecoins/texts.js'
import { Address, integerText, stableAddress } from '../../clickhouse/store/values.js'
import { AsOfEcho, AsOfQuery, allUntil } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { CursorQuery, LimitQuery, MOST_ROWS, NextCursor, page } from '../answers/cursor.js'
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
        name: stableName,
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
  next_cursor: NextCursor,
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
  description: 'Computed from the logs of the chain’s fee manager, up to the newest stored block or to any time.',
  about: 'moment',
  query: {
    ...AsOfQuery,
    limit: LimitQuery.default(MOST_ROWS),
    cursor: CursorQuery(z.tuple([integerText, Address])),
  },
  response: FeeEconomics,
  cache: CACHE_POLICIES.feeEconomics,
  covers: ({ at }) => ({ families: ['logs'], logsOf: ['fees', 'token'], ...allUntil(at) }),
  answer: async ({ app, at, cutoff, query: { limit, cursor }, signal }) => {
    const [stables, elections, sums, recent] = await Promise.all([
      stablecoinNames(app.clickhouse, { at: cutoff }, { signal }),
      feeElectionCounts(app.clickhouse, { at: cutoff }, { signal }),
      feeDistributionSums(app.clickhouse, { at: cutoff }, { signal }),
      recentFeeDistributions(app.clickhouse, { at: cutoff }, { signal }),
    ])
    const overview = feeOverview(stables, elections, sums)
    const after = cursor && { last_7d_raw: BigInt(cursor[0]), address: cursor[1] }
    const rest = after ? overview.stablecoins.filter((row) => isPaidAfter(row, after)) : overview.stablecoins
    const { rows, next_cursor } = page(rest, limit, ({ last_7d_raw, address }) => [`${last_7d_raw}`, address])
    return {
      totals: overview.totals,
      stablecoins: rows.map(({ last_7d_raw: _, ...row }) => row),
      next_cursor,
      recent_distributions: recent.map((paid) => ({ ...paid, validator_label: labelOf(paid.validator, at) })),
    }
  },
})
