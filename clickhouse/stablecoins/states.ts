import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { sampledStables } from '../chain/sampling.js'
import { isInUseAt, Tier, tierAt } from '../chain/token-lists.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { shared, together } from '../store/together.js'
import { Address, integerText, stableAddress } from '../store/values.js'
import { UNCAPPED } from '../supply/supply.js'
import { newestStates, PolicyType } from './newest-states.js'
import { MOST_CHARACTERS, stableName, stableSymbol, Truncated } from './texts.js'

/**
 * A stable's state at the end of a block. `policy_admin` is null for the two built-in policies. `opted_in_raw` is the
 * supply that is opted in to rewards, `reward_per_token_raw` the rewards paid per token so far, times 1e18; both are
 * null if the chain has no rewards.
 */
export type StateRead = {
  stable: string
  supply_raw: string
  cap_raw: string
  paused: boolean
  policy_id: string
  policy_type: PolicyType
  policy_admin: string | null
  opted_in_raw: string | null
  reward_per_token_raw: string | null
  block_number: number
  block_time: number
}

export const StablecoinState = z.object({
  address: stableAddress,
  symbol: stableSymbol,
  symbol_shared: z
    .boolean()
    .meta({ description: 'Whether another stable that existed then has the same symbol: go by the address' }),
  name: stableName,
  currency: z.string().meta({
    description: `What one token stands for, as its issuer wrote it, such as USD; the first ${MOST_CHARACTERS.currency} characters`,
  }),
  truncated: Truncated,
  tier: Tier.meta({ description: 'Whether it was on the token list of the chain then' }),
  in_use: z.boolean().meta({
    description:
      'Whether it was on the token list, had a pair on the exchange, or is as old as the chain. Risk and reserves are kept of these',
  }),
  supply: z
    .object({
      current: integerText.meta({ description: 'In base units: 6 decimals' }),
      cap: integerText.nullable().meta({ description: 'In base units; null when there is no cap' }),
    })
    .nullable()
    .meta({ description: 'null when the state was never read' }),
  policy: z
    .object({
      type: PolicyType,
      policy_id: integerText.meta({
        description: 'Number of the policy on the chain: 0 rejects everyone, 1 allows everyone',
      }),
      policy_admin: z.string().nullable().meta({ description: 'null for the two built-in policies' }),
      paused: z.boolean().meta({ description: 'Whether all transfers are stopped' }),
    })
    .nullable()
    .meta({ description: 'Who may hold and send it; null when the state was never read' }),
})

export type StablecoinState = z.infer<typeof StablecoinState>

/** What `stablecoins` has of a stable, with its tier and use at the instant. */
const StableRow = StablecoinState.omit({ supply: true, policy: true })

/** SQL: the place of a row of a list among all: listed stables come first, then others in use, then those of nobody. */
const RANK = "multiIf(tier = 'listed', 0, in_use, 1, 2)"
const rankOf = ({ tier, in_use }: Pick<StablecoinState, 'tier' | 'in_use'>): number =>
  tier === 'listed' ? 0 : in_use ? 1 : 2

/** The rows up to the instant. */
const UNTIL = 'block_time <= {at: DateTime}'

/** SQL: whether several stables that existed at the instant have a row's symbol. */
const IS_SHARED = `symbol IN (SELECT symbol FROM stablecoins WHERE ${UNTIL} GROUP BY symbol HAVING uniqExact(stable) > 1)`

/** The symbols of stables, and whether another stable that existed at the instant has the same. */
export const symbolsAt = defineQuery({
  name: 'symbols',
  params: z.object({ stables: z.array(z.string()), at: z.date() }),
  row: z.object({ stable: z.string(), symbol: z.string(), symbol_shared: z.boolean() }),
  sql: `
    SELECT stable, symbol, (${IS_SHARED})::Bool AS symbol_shared FROM stablecoins WHERE stable IN {stables: Array(String)}`,
})

const STABLES = `
    SELECT stable AS address, symbol, (${IS_SHARED})::Bool AS symbol_shared, name, currency, truncated, ${tierAt('{at: DateTime}')} AS tier,
           ${isInUseAt('{at: DateTime}')}::Bool AS in_use
    FROM stablecoins`

/** A part of the list of stables: at most `limit` of those with these properties that come after a place in it. */
export type StablesPage = {
  tier?: Tier | undefined
  symbol?: string | undefined
  currency?: string | undefined
  tracked?: boolean | undefined
  after?: StablePlace | undefined
  limit: number
}

/** The place of a stable in the list: its rank, symbol and address. */
export const StablePlace = z.tuple([z.int().min(0).max(2), z.string(), Address])
export type StablePlace = z.infer<typeof StablePlace>

export const placeOf = (state: StablecoinState): StablePlace => [rankOf(state), state.symbol, state.address]

const IS_ASKED = `
  (empty({tiers: Array(String)}) OR has({tiers: Array(String)}, tier))
  AND (empty({symbols: Array(String)}) OR has({symbols: Array(String)}, symbol))
  AND (empty({currencies: Array(String)}) OR has({currencies: Array(String)}, currency))
  AND (empty({tracked: Array(Bool)}) OR has({tracked: Array(Bool)}, has({sampled: Array(String)}, stable)::Bool))
  AND (toInt8(${RANK}), symbol, address) > ({after_rank: Int8}, {after_symbol: String}, {after_address: String})`

/** A part of the stables that existed at `at`, in the order of the list. */
const stablesPage = defineQuery({
  name: 'stables_page',
  params: z.object({
    at: z.date(),
    tiers: z.array(Tier),
    symbols: z.array(z.string()),
    currencies: z.array(z.string()),
    tracked: z.array(z.boolean()),
    sampled: z.array(z.string()),
    after_rank: z.int(),
    after_symbol: z.string(),
    after_address: z.string(),
    limit: z.int(),
  }),
  row: StableRow,
  sql: `${STABLES}
    WHERE ${IS_ASKED} AND ${UNTIL}
    ORDER BY ${RANK}, symbol, address LIMIT {limit: UInt32}`,
})

const stablesOf = defineQuery({
  name: 'stables_of',
  params: z.object({ at: z.date(), stables: z.array(z.string()) }),
  row: StableRow,
  sql: `${STABLES} WHERE stable IN {stables: Array(String)} AND ${UNTIL}`,
})

/** A stable with its newest state by then, if any was read. A cap of 2^128-1 means no cap. */
const withState = (
  stable: z.output<typeof StableRow>,
  newest: ReturnType<Awaited<ReturnType<typeof newestStates>>>,
): StablecoinState => ({
  ...stable,
  supply: newest && { current: newest.supply_raw, cap: newest.cap_raw === `${UNCAPPED}` ? null : newest.cap_raw },
  policy: newest && {
    type: newest.policy_type,
    policy_id: newest.policy_id,
    policy_admin: newest.policy_admin,
    paused: newest.paused,
  },
})

const OF_STATES = ['stablecoins', 'token_lists', 'dex_pairs', 'state_reads']

/** The state of a stable at `at`, however long ago it was read; null if there was no such stable. */
export const stablecoinStateAt = keptWhile(
  OF_STATES,
  together('stablecoin_states_of', async (clickhouse, asked: { stables: string[]; at: Date }, options) => {
    const [stables, states] = await Promise.all([
      stablesOf(clickhouse, asked, options),
      newestStates(clickhouse, asked, options),
    ])
    const found = new Map(stables.map((stable) => [stable.address, withState(stable, states(stable.address))]))
    return (stable): StablecoinState | null => found.get(stable) ?? null
  }),
)

const listOf = <Value>(value: Value | undefined): Value[] => (value === undefined ? [] : [value])

/**
 * A page of the stables that existed at `at`, each with its state then: those on the token list first, then the others that
 * are in use, then the rest, each by symbol and address. The supply and policy are null if they were never read. Reads no
 * more states than it returns, however many stables there are.
 */
export const stablecoinStatesAt = keptWhile(OF_STATES, shared('stablecoin_states_at', statesAt))

async function statesAt(
  clickhouse: ClickHouseClient,
  { at, tier, symbol, currency, tracked, after, limit }: { at: Date } & StablesPage,
  options: ReadOptions,
): Promise<StablecoinState[]> {
  const [after_rank, after_symbol, after_address] = after ?? [-1, '', '']
  const sampled = tracked === undefined ? null : await sampledStables(clickhouse, { at }, options)
  // Where all are sampled, all or none are asked for.
  if (tracked === false && sampled === null) return []
  const asked = {
    tiers: listOf(tier),
    symbols: listOf(symbol),
    currencies: listOf(currency),
    tracked: sampled === null ? [] : listOf(tracked),
    sampled: sampled ?? [],
  }
  const page = { ...asked, after_rank, after_symbol, after_address, limit }
  const stables = await stablesPage(clickhouse, { at, ...page }, options)
  const states = await newestStates(clickhouse, { stables: stables.map(({ address }) => address), at }, options)
  return stables.map((stable) => withState(stable, states(stable.address)))
}
