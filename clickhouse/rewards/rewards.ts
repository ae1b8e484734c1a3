import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import type { FactPosition } from '../chain/blocks.js'
import type { DataState } from '../chain/coverage.js'
import type { Ledger } from '../chain/ledger.js'
import { readSince, storedFor } from '../chain/missing.js'
import { isRecent, recentFirstByStable } from '../chain/recent-first.js'
import { defineQuery } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { byStable, together } from '../store/together.js'
import { blockNumber, blockTimestamp, integerText, txHash } from '../store/values.js'

const count = z.int().nonnegative()
const tokens = z.number().nonnegative()

/** A distribution of an amount to the holders of a stable who opted in. Amounts are base units as decimal strings. */
export type RewardDistribution = FactPosition & { stable: string; funder: string; amount_raw: string }

/** A holder's choice of who receives its rewards: itself, another account, or no one (the zero address). */
export type RewardRecipient = FactPosition & { stable: string; holder: string; recipient: string }

/** A payment of accumulated rewards to an account. */
export type RewardClaim = FactPosition & { stable: string; account: string; amount_raw: string }

/** What is asked of several stables up to `at`. */
const RewardRequest = z.object({ stables: z.array(z.string()), at: z.date() })
type RewardRequest = z.infer<typeof RewardRequest>

const distributionSums = defineQuery({
  name: 'reward_distribution_sums',
  params: RewardRequest,
  row: z.object({
    stable: z.string(),
    distribution_count: z.int().nonnegative(),
    last_24h_tokens: tokens,
    last_7d_tokens: tokens,
    all_time_tokens: tokens,
  }),
  // Issuers choose any amount, so the sum may exceed 128 bits.
  sql: `
    SELECT stable, toUInt32(count()) AS distribution_count,
           toFloat64(sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - ${DAY_SECONDS})) / 1e6 AS last_24h_tokens,
           toFloat64(sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - ${WEEK_SECONDS})) / 1e6 AS last_7d_tokens,
           toFloat64(sum(toUInt256(amount_raw))) / 1e6 AS all_time_tokens
    FROM reward_distributions
    WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime}
    GROUP BY stable`,
})

const NOTHING_DISTRIBUTED = { distribution_count: 0, last_24h_tokens: 0, last_7d_tokens: 0, all_time_tokens: 0 }

/**
 * The rewards distributed to the holders of a stable up to `at`, in tokens: zeros if there were none. A window of length W
 * is (at - W, at].
 */
export const rewardDistributionSums = together(
  'reward_distribution_sums',
  async (clickhouse, request: RewardRequest, options) => {
    const sums = byStable(await distributionSums(clickhouse, request, options))
    return (stable) => sums(stable)[0] ?? NOTHING_DISTRIBUTED
  },
)

export const RewardOptIns = z.object({
  recipient_count: count.meta({
    description: 'Holders who have opted in: their last choice of recipient is not the zero address',
  }),
  distinct_recipients: count.meta({ description: 'Distinct accounts that these holders have chosen as recipient' }),
  redirected_count: count.meta({ description: 'Holders whose rewards go to an account other than their own' }),
})

const optIns = defineQuery({
  name: 'reward_opt_ins',
  params: RewardRequest,
  row: RewardOptIns.extend({ stable: z.string() }),
  // One number for the position in the chain: comparing pairs takes more than twice as long.
  sql: `
    SELECT stable, toUInt32(count()) AS recipient_count, toUInt32(uniqExact(chosen)) AS distinct_recipients,
           toUInt32(countIf(chosen != holder)) AS redirected_count
    FROM
    (
        SELECT stable, holder, argMax(recipient, toUInt128(block_number) * 4294967296 + log_index) AS chosen
        FROM reward_recipients
        WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime}
        GROUP BY stable, holder
    )
    WHERE chosen != '0x0000000000000000000000000000000000000000'
    GROUP BY stable`,
})

const NOBODY = { recipient_count: 0, distinct_recipients: 0, redirected_count: 0 }

/** How many holders of a stable take part in rewards as of `at`, by the last choice of each. */
export const rewardOptIns = keptWhile(
  ['reward_recipients'],
  together('reward_opt_ins', async (clickhouse, request: RewardRequest, options) => {
    const optInsOf = byStable(await optIns(clickhouse, request, options))
    return (stable) => optInsOf(stable)[0] ?? NOBODY
  }),
)

export const RewardDistributionRow = z.object({
  funder: z.string().meta({ description: 'Address of the account that funded the distribution' }),
  amount_tokens: z.number().nonnegative().meta({ description: 'In whole tokens' }),
  block_number: blockNumber,
  block_timestamp: blockTimestamp,
  tx_hash: txHash,
})

const recentDistributions = recentFirstByStable(
  defineQuery({
    name: 'recent_reward_distributions',
    params: RewardRequest.extend({ recent_only: z.boolean() }),
    row: RewardDistributionRow.extend({ stable: z.string() }),
    sql: `
    SELECT stable, funder, toFloat64(amount_raw) / 1e6 AS amount_tokens, toUInt32(block_number) AS block_number,
           block_time AS block_timestamp, tx_hash
    FROM reward_distributions
    WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}
    ORDER BY stable DESC, block_time DESC, reward_distributions.block_number DESC, log_index DESC LIMIT 10 BY stable`,
  }),
  (rows) => rows.length === 10,
)

/** The last ten distributions to the holders of a stable up to `at`, newest first. */
export const recentRewardDistributions = keptWhile(
  ['reward_distributions'],
  together('recent_reward_distributions', recentDistributions),
)

const pools = recentFirstByStable(
  defineQuery({
    name: 'reward_pool',
    params: RewardRequest.extend({ recent_only: z.boolean() }),
    row: z.object({
      stable: z.string(),
      opted_in_supply: integerText.nullable(),
      opted_in_tokens: z.number().nonnegative().nullable(),
      global_reward_per_token: integerText.nullable(),
    }),
    sql: `
    SELECT stable, toString(opted_in_raw) AS opted_in_supply, toFloat64(opted_in_raw) / 1e6 AS opted_in_tokens,
           toString(reward_per_token_raw) AS global_reward_per_token
    FROM state_reads
    WHERE (stable, block_time) IN
          (
              SELECT stable, max(block_time) FROM state_reads
              WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}
              GROUP BY stable
          )
    ORDER BY state_reads.block_number DESC LIMIT 1 BY stable`,
  }),
)

/**
 * The supply whose holders have opted in, in base units and tokens, and the pool's accumulator, from the last read up
 * to `at`. A column is null if that read could not determine it; the row is null if there was no read.
 */
export const rewardPool = keptWhile(
  ['state_reads'],
  together('reward_pool', async (clickhouse, request: RewardRequest, options) => {
    const newest = await pools(clickhouse, request, options)
    return (stable) => newest(stable)[0] ?? null
  }),
)

export const RewardFunder = z.object({
  address: z.string().meta({ description: 'Address of the account that funded the distributions' }),
  distribution_count: z.int().positive().meta({ description: 'Number of distributions that it funded' }),
  total_amount_tokens: z.number().nonnegative().meta({ description: 'Total of its distributions, in whole tokens' }),
})

const topFunders = defineQuery({
  name: 'top_reward_funders',
  params: RewardRequest,
  row: RewardFunder.extend({ stable: z.string() }),
  sql: `
    SELECT stable, funder AS address, toUInt32(count()) AS distribution_count,
           toFloat64(sum(toUInt256(amount_raw))) / 1e6 AS total_amount_tokens
    FROM reward_distributions
    WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime}
    GROUP BY stable, funder
    ORDER BY stable, sum(toUInt256(amount_raw)) DESC, funder LIMIT 10 BY stable`,
})

/** The top ten funders of a stable's rewards up to `at`, by amount in descending order, then by address. */
export const topRewardFunders = keptWhile(
  ['reward_distributions'],
  together('top_reward_funders', async (clickhouse, request: RewardRequest, options) =>
    byStable(await topFunders(clickhouse, request, options)),
  ),
)

/**
 * Chains on which rewards can no longer be distributed, and since when. Tempo's fork T7 made `distributeReward` do
 * nothing.
 */
const ENDED = new Map([[4217, new Date('2026-07-09T00:00:00Z')]])

/** When a chain ended rewards, if that is at or before `at`; otherwise null. */
export function rewardsEndedAt(chainId: number | null, at: Date): Date | null {
  const ended = chainId === null ? undefined : ENDED.get(chainId)
  return ended && ended <= at ? ended : null
}

/** Days of distributions that a yearly rate is made of. */
export const RATE_DAYS = 7

/**
 * The simple yearly rate, in per cent, of a token that is opted in, if the distributions of `days` continued for a year. Null if
 * no supply is known to be opted in, or without a whole day.
 */
export function yearlyPct(distributedTokens: number, optedInTokens: number | null, days: number | null): number | null {
  if (optedInTokens === null || optedInTokens === 0 || days === null || days < 1) return null
  return (distributedTokens / optedInTokens) * (365 / days) * 100
}

/**
 * How many of the last `RATE_DAYS` up to `to`, in unix seconds, are measured: since the stable was made, and without a hole in
 * its logs. Null if they are not read at `to`.
 */
export function measuredDays(ledger: Pick<Ledger, 'ranges'>, created: number, to: number): number | null {
  const newest = storedFor(ledger, 'logs').at(-1)?.to_time ?? null
  if (newest === null) return null
  const end = Math.min(to, newest)
  const from = Math.max(created, readSince(ledger, 'logs', end), to - RATE_DAYS * DAY_SECONDS)
  return from < end ? (end - from) / DAY_SECONDS : null
}

/** The coverage of an answer about rewards: the live reads may be missing, and a chain may have ended rewards. */
export function rewardsCoverage({ isRead, endedAt }: { isRead: boolean; endedAt: Date | null }): DataState {
  if (endedAt) {
    const day = endedAt.toISOString().slice(0, 10)
    return { status: 'partial', message: `The chain ended rewards on ${day}. The figures cover the time until then.` }
  }
  if (isRead) return { status: 'complete', message: 'From events; the opted-in supply was read from the chain.' }
  return { status: 'partial', message: 'The opted-in supply was not read. Figures that depend on it are null.' }
}
