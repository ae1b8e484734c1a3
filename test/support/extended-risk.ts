import { hhiOf } from '../../clickhouse/holders/figures.js'
import type { QuoteStatus } from '../../clickhouse/peg/price.js'
import { DEPTH_SIZES } from '../../clickhouse/peg/price.js'
import { extendedInputs, leftOut } from '../../clickhouse/risk/extended/inputs.js'
import { extendedScore, UNQUOTED_BPS } from '../../clickhouse/risk/extended/score.js'
import type { PolicyType } from '../../clickhouse/stablecoins/newest-states.js'
import { UNCAPPED } from '../../clickhouse/supply/supply.js'
import { type Random, randomFor } from '../../local/chain/random.js'
import { stableAddress } from './rows.js'

/** From the one that restricts least to the one that restricts most. */
const POLICIES: readonly PolicyType[] = ['allow_all', 'blacklist', 'whitelist', 'compound', 'reject_all']
const SIZES = DEPTH_SIZES.length

/** A stable as one could find it, from which the inputs of a score are made as from the database. */
export type RiskState = {
  stable: string
  currency: string
  tracksHolders: boolean
  /** Distances from 1 of the day's samples, in millionths, a minute each; null without a quote. */
  samples: readonly (number | null)[]
  /** By how much less than 1 a thousand tokens sold in the day's depth samples, in base units, a minute each; null without a quote. */
  shortfalls: readonly (number | null)[]
  unquoted_seconds: number | null
  open: { mild: boolean; severe: boolean }
  events: { mild: number; severe: number }
  /** What each sampled size sells for, in base units; a status if it has no price. */
  quotes: readonly (bigint | QuoteStatus)[]
  balances: readonly bigint[]
  /** Less than what is held: the transfers do not explain the supply. */
  unexplained: bigint
  cap: bigint
  paused: boolean
  policy: PolicyType
  policyEvents: number
  isKnown: { day: boolean; week: boolean; state: boolean; logs: boolean; depth: boolean; transfers: boolean }
}

const MINUTE = 60
const secondsOf = (samples: readonly unknown[]): bigint => BigInt(MINUTE * samples.length)

const depthsOf = (shortfalls: RiskState['shortfalls']) => ({
  depth_seconds: MINUTE * shortfalls.length,
  worst: shortfalls
    .map((shortfall): [number, number] => [shortfall ?? UNQUOTED_BPS * 100_000, MINUTE])
    .sort(([a], [b]) => b - a),
})

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The score of a state. */
export function scoreOf(state: RiskState) {
  const supply = sumOf(state.balances) + state.unexplained
  const quoted = state.samples.filter((sample) => sample !== null)
  const squares = state.balances.reduce((sum, balance) => sum + balance * balance, 0n)
  const row = {
    stable: state.stable,
    currency: state.currency,
    created_block: 1,
    created_at: 0,
    held: {
      quoted_seconds: secondsOf(quoted),
      distances: BigInt(MINUTE * quoted.reduce((sum, sample) => sum + sample, 0)),
      squares: BigInt(MINUTE) * sumOf(quoted.map((sample) => BigInt(sample) ** 2n)),
      unquoted_seconds: secondsOf(state.samples) - secondsOf(quoted),
    },
    largest_distance: null,
    quoted_count: quoted.length,
    unquoted_count: state.samples.length - quoted.length,
    has_open_mild: state.open.mild,
    has_open_severe: state.open.severe,
    mild_events_7d: state.events.mild,
    severe_events_7d: state.events.severe,
    supply_raw: supply,
    cap_raw: state.cap,
    paused: state.paused,
    policy_id: '1',
    policy_type: state.policy,
    state_block_number: '10',
    policy_events_7d: state.policyEvents,
    unquoted_seconds: state.unquoted_seconds,
  }
  const found = extendedInputs(row, {
    isDaySampled: state.isKnown.day,
    isWeekSampled: state.isKnown.week,
    state_read_from: state.isKnown.state ? 1 : null,
    areLogsRead: state.isKnown.logs,
    quotes: state.isKnown.depth
      ? state.quotes.map((quote, i) => ({
          stable: state.stable,
          size_tokens: DEPTH_SIZES[i] as number,
          sell_status: typeof quote === 'bigint' ? ('quoted' as const) : quote,
          sell_raw: typeof quote === 'bigint' ? `${quote}` : null,
        }))
      : [],
    depths: state.isKnown.depth && state.shortfalls.length > 0 ? depthsOf(state.shortfalls) : null,
    held: state.isKnown.transfers
      ? { supply: sumOf(state.balances), hhi: hhiOf({ sum: sumOf(state.balances), squares }) }
      : null,
  })
  return { ...extendedScore(found.inputs, leftOut(state.stable, state)), ...found }
}

/** What a size sells for at a distance from 1 in basis points, which may be above it. */
const soldAt = (size: number, bps: number): bigint => BigInt(Math.round(size * 1e6 * (1 - bps / 1e4)))

/** What every size sells for: mostly the larger the worse, and for some of the smallest or largest nothing. */
function randomQuotes(random: Random): (bigint | QuoteStatus)[] {
  const first = random.int(-30, 60)
  const step = random.int(0, 120)
  return DEPTH_SIZES.map((size, i) => {
    if (random.chance(0.05)) return random.pick(['failed', 'out_of_range', 'too_deep', 'no_pair', 'paused'] as const)
    if (random.chance(0.12 * (i + 1))) return 'no_liquidity'
    return soldAt(size, random.chance(0.1) ? random.int(-100, 200) : first + i * step)
  })
}

/** Amounts of any size, up to nearly all that a token can have. */
const randomAmount = (random: Random): bigint => BigInt(random.int(0, 1_000_000)) * 10n ** BigInt(random.int(0, 29))

/** A state at random: calm ones, broken ones, and those of which little is known. */
export function randomState(seed: number, i: number): RiskState {
  const random = randomFor(seed, 'state', i)
  const most = random.pick([0, 500, 5000, 20_000, 100_000])
  const isCalm = random.chance(0.3)
  const lost = isCalm ? 0 : random.pick([0, 0.02, 0.5, 1])
  const balances = Array.from({ length: random.pick([0, 1, 2, 5, 30]) }, () => randomAmount(random))
  const supply = sumOf(balances)
  const known = (): boolean => !random.chance(0.08)
  const minutes = random.pick([0, 1, 3, 20, 60])
  const dry = random.pick([0, 0, 0.02, 0.5])
  return {
    stable: random.chance(0.04) ? '0x20c0000000000000000000000000000000000000' : stableAddress(1),
    currency: random.chance(0.05) ? 'EUR' : 'USD',
    tracksHolders: random.chance(0.7),
    samples: Array.from({ length: minutes }, () => (random.chance(lost) ? null : random.int(-most, most))),
    shortfalls: Array.from({ length: random.chance(0.1) ? 1 : minutes }, () =>
      random.chance(dry) ? null : random.int(0, 1000 * most),
    ),
    unquoted_seconds: random.pick([null, 1, 59, 60, 5000]),
    open: { mild: !isCalm && random.chance(0.3), severe: !isCalm && random.chance(0.2) },
    events: { mild: isCalm ? 0 : random.int(0, 12), severe: isCalm ? 0 : random.int(0, 5) },
    quotes: randomQuotes(random),
    balances,
    unexplained: random.chance(0.1) ? randomAmount(random) : 0n,
    cap: random.pick([0n, supply, supply + randomAmount(random), 2n * supply, 10n ** 38n, UNCAPPED]),
    paused: random.chance(0.1),
    policy: random.pick(POLICIES),
    policyEvents: random.pick([0, 0, 1, 8]),
    isKnown: { day: known(), week: known(), state: known(), logs: known(), depth: known(), transfers: known() },
  }
}

const replaced = <Item>(list: readonly Item[], i: number, item: Item): Item[] =>
  list.map((one, j) => (i === j ? item : one))

/** A worse or less known state; the same if the move is impossible. Each changes one thing. */
export const MOVES: Readonly<Record<string, (state: RiskState, random: Random) => RiskState>> = {
  'a sample loses its quote': (state, random) =>
    state.samples.length === 0
      ? state
      : { ...state, samples: replaced(state.samples, random.int(0, state.samples.length - 1), null) },
  'the quote is lost for longer': (state, random) => ({
    ...state,
    unquoted_seconds: (state.unquoted_seconds ?? 0) + random.int(1, 200),
  }),
  'a price is farther from 1': (state, random) => {
    const i = random.int(0, Math.max(0, state.samples.length - 1))
    const before = state.samples[i] ?? null
    const after = (Math.abs(before ?? 0) + random.int(1, 50_000)) * (random.chance(0.5) ? 1 : -1)
    return before === null ? state : { ...state, samples: replaced(state.samples, i, after) }
  },
  'a thousand tokens sell for less for a while': (state, random) => {
    const i = random.int(0, Math.max(0, state.shortfalls.length - 1))
    const before = state.shortfalls[i] ?? null
    const after = (before ?? 0) + random.int(1, 50_000_000)
    return before === null ? state : { ...state, shortfalls: replaced(state.shortfalls, i, after) }
  },
  'nobody buys a thousand tokens for a while': (state, random) =>
    state.shortfalls.length === 0
      ? state
      : { ...state, shortfalls: replaced(state.shortfalls, random.int(0, state.shortfalls.length - 1), null) },
  'the cap is removed': (state) => ({ ...state, cap: UNCAPPED }),
  'the cap is raised': (state, random) => {
    const raised = state.cap + randomAmount(random)
    return raised < UNCAPPED ? { ...state, cap: raised } : { ...state, cap: UNCAPPED }
  },
  'a break begins': (state, random) => {
    const severity = random.pick(['mild', 'severe'] as const)
    return {
      ...state,
      open: { ...state.open, [severity]: true },
      events: { ...state.events, [severity]: state.events[severity] + 1 },
    }
  },
  'there was one more break': (state, random) => {
    const severity = random.pick(['mild', 'severe'] as const)
    return { ...state, events: { ...state.events, [severity]: state.events[severity] + 1 } }
  },
  'a size sells for less': (state, random) => {
    const i = random.int(0, SIZES - 1)
    const before = state.quotes[i]
    if (typeof before !== 'bigint') return state
    return { ...state, quotes: replaced(state.quotes, i, before - (before * BigInt(random.int(1, 400))) / 10_000n) }
  },
  'nobody buys a size': (state, random) => {
    const i = random.int(0, SIZES - 1)
    return typeof state.quotes[i] === 'bigint' ? { ...state, quotes: replaced(state.quotes, i, 'no_liquidity') } : state
  },
  'all sizes sell for less': (state, random) => {
    const share = BigInt(random.int(1, 400))
    const quotes = state.quotes.map((quote) => (typeof quote === 'bigint' ? quote - (quote * share) / 10_000n : quote))
    return { ...state, quotes }
  },
  'a larger holder gets from a smaller one': (state, random) => {
    const n = state.balances.length
    if (n < 2) return state
    const [a, b] = [random.int(0, n - 1), random.int(0, n - 1)]
    const [large, small] = (state.balances[a] as bigint) >= (state.balances[b] as bigint) ? [a, b] : [b, a]
    if (large === small) return state
    const moved = ((state.balances[small] as bigint) * BigInt(random.int(1, 100))) / 100n
    const taken = replaced(state.balances, small, (state.balances[small] as bigint) - moved)
    return { ...state, balances: replaced(taken, large, (state.balances[large] as bigint) + moved) }
  },
  'transfers are paused': (state) => ({ ...state, paused: true }),
  'the policy restricts more': (state, random) => ({
    ...state,
    policy: POLICIES[random.int(POLICIES.indexOf(state.policy), POLICIES.length - 1)] as PolicyType,
  }),
  'the policy is changed': (state) => ({ ...state, policyEvents: state.policyEvents + 1 }),
  'an input is lost': (state, random) => ({
    ...state,
    isKnown: { ...state.isKnown, [random.pick(['day', 'week', 'state', 'logs', 'depth', 'transfers'])]: false },
  }),
  'a quote fails': (state, random) => ({
    ...state,
    quotes: replaced(
      state.quotes,
      random.int(0, SIZES - 1),
      random.pick(['failed', 'out_of_range', 'too_deep'] as const),
    ),
  }),
  'what was unknown is known to be as bad as it can be': (state, random) => {
    const { isKnown } = state
    const unknown = (['day', 'logs', 'depth'] as const).filter((name) => !isKnown[name])
    const name = unknown.length > 0 ? random.pick(unknown) : null
    if (name === 'day')
      return {
        ...state,
        samples: [null],
        shortfalls: [null],
        quotes: Array(SIZES).fill('no_liquidity'),
        isKnown: { ...isKnown, day: true },
      }
    if (name === 'depth')
      return {
        ...state,
        quotes: Array(SIZES).fill('no_liquidity'),
        shortfalls: state.shortfalls.map(() => null),
        isKnown: { ...isKnown, depth: true },
      }
    if (name === 'logs') return { ...state, policyEvents: 20, isKnown: { ...isKnown, logs: true } }
    return state
  },
}
