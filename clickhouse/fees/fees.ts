import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import type { FactPosition } from '../chain/blocks.js'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { defineQuery } from '../store/define-query.js'
import { blockNumber, blockTimestamp, integerText, txHash } from '../store/values.js'
import { LAST_CHOICES } from './choices.js'

/** The fee of a transaction, including a reverted one. `payer` is the account that paid it, which may be a sponsor. */
export type FeePaid = FactPosition & { stable: string; payer: string; amount_raw: string }

/**
 * An account's choice of the stable in which it pays fees, or a validator's choice of the one it is paid in, from this
 * log on.
 */
export type FeeElection = FactPosition & { kind: 'user' | 'validator'; account: string; stable: string }

/** A payment of accumulated fees to a validator. */
export type FeeDistribution = FactPosition & { validator: string; stable: string; amount_raw: string }

/**
 * A change to a pool that converts the stable a fee is paid in to the one the validator chose, other than by a fee:
 * liquidity added or removed, or a trade that rebalances the pool (in: validator's stable, out: users' stable).
 */
export type FeePoolEvent = FactPosition & {
  kind: 'mint' | 'burn' | 'rebalance'
  account: string
  recipient: string | null
  user_token: string
  validator_token: string
  user_amount_raw: string
  validator_amount_raw: string
  liquidity_raw: string
}

/** Fees paid out in a token, in base units. */
const DistributionSums = z.object({
  stable: z.string(),
  last_24h_raw: integerText,
  last_7d_raw: integerText,
  all_time_raw: integerText,
  distribution_count: z.int().positive(),
})

/**
 * The fees that validators were paid in each token up to `at`, in base units; in no order. A window of length W is
 * (at - W, at]. The token need not be a known stable. The months before the longest window come from a projection, whose
 * words the statement has to use (clickhouse/schema/0009_fees_and_rewards.sql).
 */
export const feeDistributionSums = defineQuery({
  name: 'fee_distribution_sums',
  params: z.object({ at: z.date() }),
  row: DistributionSums,
  sql: `
    WITH toStartOfMonth(toDateTime({at: DateTime}, 'UTC') - ${WEEK_SECONDS}) AS month
    SELECT stable, toString(sum(day)) AS last_24h_raw, toString(sum(week)) AS last_7d_raw, toString(sum(paid)) AS all_time_raw,
           toUInt32(sum(payments)) AS distribution_count
    FROM
    (
        SELECT stable, toUInt256(0) AS day, toUInt256(0) AS week, sum(toUInt256(amount_raw)) AS paid, count() AS payments
        FROM fee_distributions WHERE toStartOfMonth(block_time) < month
        GROUP BY stable
        UNION ALL
        SELECT stable, sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - ${DAY_SECONDS}),
               sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - ${WEEK_SECONDS}), sum(toUInt256(amount_raw)), count()
        FROM fee_distributions WHERE block_time >= toDateTime(month, 'UTC') AND block_time <= {at: DateTime}
        GROUP BY stable
    )
    GROUP BY stable`,
})

/** How many accounts have chosen a token for fees. */
const ElectionCounts = z.object({
  stable: z.string(),
  users_electing: z.int().nonnegative(),
  validators_electing: z.int().nonnegative(),
})

/**
 * How many users and validators have chosen a token for fees as of `at`, by the last choice of each account; in no
 * order. The zero address does not count as a choice. The token need not be a known stable.
 */
export const feeElectionCounts = defineQuery({
  name: 'fee_election_counts',
  params: z.object({ at: z.date() }),
  row: ElectionCounts,
  sql: `
    SELECT chosen AS stable, toUInt32(countIf(chosen_by = 'user')) AS users_electing,
           toUInt32(countIf(chosen_by = 'validator')) AS validators_electing
    FROM
    (
        SELECT any(choices.chosen_by) AS chosen_by, argMax(choices.chosen, position) AS chosen
        FROM (${LAST_CHOICES}
        ) AS choices
        GROUP BY chooser
    )
    WHERE chosen != '0x0000000000000000000000000000000000000000'
    GROUP BY chosen`,
})

export const FeeDistributionRow = z.object({
  validator: z.string().meta({ description: 'Address of the validator who was paid' }),
  token: z.string().meta({ description: 'Address of the stable in which the fees were paid' }),
  token_symbol: z.string().meta({ description: 'Symbol of the stable, or its address if it is not a known stable' }),
  amount_tokens: z.number().nonnegative().meta({ description: 'In whole tokens' }),
  block_number: blockNumber,
  block_timestamp: blockTimestamp,
  tx_hash: txHash,
})

/** The last ten payments of fees to validators up to `at`, newest first. */
export const recentFeeDistributions = recentFirst(
  defineQuery({
    name: 'recent_fee_distributions',
    params: z.object({ at: z.date(), recent_only: z.boolean() }),
    row: FeeDistributionRow,
    sql: `
    SELECT validator, recent.stable AS token, if(stablecoins.stable = '', recent.stable, symbol) AS token_symbol,
           toFloat64(amount_raw) / 1e6 AS amount_tokens, toUInt32(recent.number) AS block_number,
           time AS block_timestamp, recent.hash AS tx_hash
    FROM
    (
        SELECT validator, stable, amount_raw, block_number AS number, log_index AS log, block_time AS time, tx_hash AS hash
        FROM fee_distributions
        WHERE block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}
        ORDER BY time DESC, number DESC, log DESC LIMIT 10
    ) AS recent
    LEFT JOIN stablecoins ON stablecoins.stable = recent.stable
    ORDER BY time DESC, number DESC, log DESC`,
  }),
  (rows) => rows.length === 10,
)

/**
 * What the fee manager received minus what it paid out of each token in the blocks (after, to], in base units,
 * according to the facts: fees, distributions, and its pools' liquidity changes and trades.
 */
export const feeManagerChanges = defineQuery({
  name: 'fee_manager_changes',
  params: z.object({ after: z.int(), to: z.int() }),
  row: z.object({ stable: z.string(), change_raw: integerText }),
  sql: `
    SELECT stable, toString(sum(change)) AS change_raw
    FROM
    (
        SELECT stable, toInt256(amount_raw) AS change, block_number FROM fees_paid
        UNION ALL
        SELECT stable, -toInt256(amount_raw), block_number FROM fee_distributions
        UNION ALL
        SELECT validator_token, if(kind = 'burn', -1, 1) * toInt256(validator_amount_raw), block_number FROM fee_pool_events
        UNION ALL
        SELECT user_token, -toInt256(user_amount_raw), block_number FROM fee_pool_events WHERE kind IN ('burn', 'rebalance')
    )
    WHERE block_number > {after: UInt64} AND block_number <= {to: UInt64}
    GROUP BY stable`,
})

/** Where a stable is in the fee economics. */
export type FeePlace = { last_7d_raw: bigint; address: string }

/** Whether a stable comes after another: it was paid less, or has a later address. */
export const isPaidAfter = (a: FeePlace, b: FeePlace): boolean =>
  a.last_7d_raw < b.last_7d_raw || (a.last_7d_raw === b.last_7d_raw && a.address > b.address)

type Named = { address: string; symbol: string; name: string }

const inTokens = (raw: bigint): number => Number(raw) / 1e6

const sumOfRaw = (values: readonly string[]): bigint => values.reduce((sum, raw) => sum + BigInt(raw), 0n)

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/**
 * The fee economics: totals over every token, whether or not it is a known stable, and one row per stable, by fees of
 * the last seven days in descending order, then by address. `share_of_fees_7d_pct` is null if no fees were paid at all;
 * `last_7d_raw` is what the order goes by, in base units.
 */
export function feeOverview(
  stables: readonly Named[],
  elections: readonly z.infer<typeof ElectionCounts>[],
  sums: readonly z.infer<typeof DistributionSums>[],
) {
  const all7d = sumOfRaw(sums.map(({ last_7d_raw }) => last_7d_raw))
  const electionsOf = new Map(elections.map((row) => [row.stable, row]))
  const sumsOf = new Map(sums.map((row) => [row.stable, row]))
  const rows = stables.map(({ address, symbol, name }) => {
    const elected = electionsOf.get(address)
    const paid = sumsOf.get(address)
    const last7d = BigInt(paid?.last_7d_raw ?? 0)
    return {
      last_7d_raw: last7d,
      address,
      symbol,
      name,
      users_electing: elected?.users_electing ?? 0,
      validators_electing: elected?.validators_electing ?? 0,
      fees_received_24h_tokens: inTokens(BigInt(paid?.last_24h_raw ?? 0)),
      fees_received_7d_tokens: inTokens(last7d),
      fees_received_all_time_tokens: inTokens(BigInt(paid?.all_time_raw ?? 0)),
      share_of_fees_7d_pct: all7d === 0n ? null : (Number(last7d) / Number(all7d)) * 100,
      distribution_count: paid?.distribution_count ?? 0,
    }
  })
  rows.sort((a, b) => (isPaidAfter(b, a) ? -1 : 1))
  return {
    totals: {
      users_electing: sumOf(elections.map(({ users_electing }) => users_electing)),
      validators_electing: sumOf(elections.map(({ validators_electing }) => validators_electing)),
      fees_distributed_7d_tokens: inTokens(all7d),
      fees_distributed_all_time_tokens: inTokens(sumOfRaw(sums.map(({ all_time_raw }) => all_time_raw))),
      distribution_count: sumOf(sums.map(({ distribution_count }) => distribution_count)),
    },
    stablecoins: rows,
  }
}
