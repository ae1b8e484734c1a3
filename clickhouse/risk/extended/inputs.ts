import type { ClickHouseClient } from '@clickhouse/client'
import { DAY_SECONDS, WEEK_SECONDS } from '../../../process/instants.js'
import type { Family } from '../../chain/batches.js'
import { storedRanges } from '../../chain/ledger.js'
import { isRead, rangeAt, storedFor } from '../../chain/missing.js'
import { readSampling, unsampledRanges } from '../../chain/sampling.js'
import { sellQuotesAt } from '../../depth/depth.js'
import { depthWithin, EXIT_BPS, sellCostBps } from '../../depth/liquidity.js'
import { concentrations } from '../../holders/concentrations.js'
import { DEPTH_SIZES, INCONCLUSIVE, REFERENCE_STABLE } from '../../peg/price.js'
import { toDecimals } from '../../store/values.js'
import type { RiskInputsRow } from '../inputs.js'
import { headroomShare } from '../score.js'
import { type ComponentName, type ExtendedInputs, MOST_HHI, UNQUOTED_BPS, UNSELLABLE_BPS } from './score.js'
import { type DepthsOfDay, depthsOfDay, expectedShortfall, MAX_DEPTH_SECONDS } from './shortfall.js'

/** Depth that was last sampled longer ago than this, in seconds, is not known. */
const MOST_DEPTH_AGE = 3600

type SellQuote = Awaited<ReturnType<typeof sellQuotesAt>>[number]

/** What is known of a stable at an instant besides the inputs of the composite. */
type ReadInputs = {
  /** Whether its price was sampled in every block of the last day, and of the last week. */
  isDaySampled: boolean
  isWeekSampled: boolean
  /** The first block since which its state is read; null if it is not. */
  state_read_from: number | null
  /** Whether all logs of the last week are stored. */
  areLogsRead: boolean
  /** Of its newest depth sample; empty if none is known. */
  quotes: readonly SellQuote[]
  /** Of the last day; null without a depth sample that held in it. */
  depths: DepthsOfDay | null
  /** What the transfers add up to; null if some are not stored. */
  held: { supply: bigint; hhi: number | null } | null
}

const sampledSeconds = ({ held }: RiskInputsRow): bigint => held.quoted_seconds + held.unquoted_seconds

/**
 * The root mean square distance from 1 in basis points over the seconds in which a sample held. One without a quote counts as
 * UNQUOTED_BPS. The sum of squares never falls when a sample loses its quote, so neither does the root.
 */
function rmsBps(row: RiskInputsRow): number {
  const squares = row.held.squares + row.held.unquoted_seconds * BigInt(100 * UNQUOTED_BPS) ** 2n
  return toDecimals(Math.sqrt(Number(squares) / Number(sampledSeconds(row))) / 100, 4)
}

/**
 * Whether depth samples held for as long as samples of the price did: a stable may be too young for them by as long as one holds.
 */
const isCovered = (depths: DepthsOfDay, row: RiskInputsRow): boolean =>
  depths.depth_seconds + MAX_DEPTH_SECONDS >= Number(sampledSeconds(row))

/** The sizes that count: those up to the supply, and the smallest. All if the supply is not known. */
const sizesUpTo = (supply: bigint | null): number[] =>
  DEPTH_SIZES.filter((size, i) => i === 0 || supply === null || BigInt(size) * 1_000_000n <= supply)

/** Quotes that say nothing about the market: the exchange refused them, or gave none that is a price. */
const isUnknown = ({ sell_status, sell_raw }: SellQuote): boolean =>
  sell_raw === null && INCONCLUSIVE.includes(sell_status)

function exitOf(
  quotes: readonly SellQuote[],
  supply: bigint | null,
): Pick<ExtendedInputs, 'exit_share' | 'exit_cost_bps'> {
  const sizes = sizesUpTo(supply)
  if (supply === null || quotes.length === 0) return { exit_share: null, exit_cost_bps: sizes.map(() => null) }
  const costOf = (size: number): number | null => {
    const quote = quotes.find(({ size_tokens }) => size_tokens === size)
    if (!quote || isUnknown(quote)) return null
    const cost = sellCostBps(quote)
    return cost === null ? UNSELLABLE_BPS : toDecimals(cost, 4)
  }
  const sides = quotes.map((quote) => ({ ...quote, buy_status: quote.sell_status, buy_raw: null }))
  const { tokens, at_least_tokens } = depthWithin('sell', sides, EXIT_BPS)
  const depth = tokens ?? at_least_tokens ?? 0
  const share = depth === 0 ? 0 : supply === 0n ? 1 : Math.min(1, (depth * 1e6) / Number(supply))
  return { exit_share: toDecimals(share, 8), exit_cost_bps: sizes.map(costOf) }
}

/** The inputs of the composite, with how long there has been no quote; null if there is one. */
type CompositeInputs = RiskInputsRow & { unquoted_seconds: number | null }

/** The inputs of the extended score, as they are stored, and the sizes whose exit costs count. */
export function extendedInputs(row: CompositeInputs, read: ReadInputs): { inputs: ExtendedInputs; sizes: number[] } {
  const isUsd = row.currency === 'USD'
  const areBreaksKnown = isUsd && read.isWeekSampled
  // A state that was read before a hole may have changed in it.
  const isStateKnown = read.state_read_from !== null && read.state_read_from <= Number(row.state_block_number ?? -1)
  const supply = isStateKnown ? row.supply_raw : null
  const cap = isStateKnown ? row.cap_raw : null
  const isDayKnown = isUsd && read.isDaySampled && sampledSeconds(row) > 0n
  const isHeldKnown = read.held !== null && read.held.supply === supply
  return {
    sizes: sizesUpTo(supply),
    inputs: {
      rms_bps_24h: isDayKnown ? rmsBps(row) : null,
      shortfall_bps_24h:
        isDayKnown && read.depths && isCovered(read.depths, row) ? expectedShortfall(read.depths) : null,
      has_open_mild: areBreaksKnown ? row.has_open_mild : null,
      has_open_severe: areBreaksKnown ? row.has_open_severe : null,
      unquoted_seconds: areBreaksKnown ? (row.unquoted_seconds ?? 0) : null,
      mild_events_7d: areBreaksKnown ? row.mild_events_7d : null,
      severe_events_7d: areBreaksKnown ? row.severe_events_7d : null,
      ...exitOf(read.quotes, supply),
      hhi: isHeldKnown ? toDecimals(read.held?.hhi ?? MOST_HHI, 4) : null,
      headroom_share: supply === null || cap === null ? null : toDecimals(headroomShare(supply, cap), 6),
      paused: isStateKnown ? row.paused : null,
      policy_type: isStateKnown ? row.policy_type : null,
      policy_events_7d: read.areLogsRead ? row.policy_events_7d : null,
    },
  }
}

/**
 * The components that cannot be measured, whatever happens: the price and the exit of the reference stable, which are 1 by
 * definition, and concentration where transfers are not read.
 */
export const leftOut = (stable: string, { tracksHolders }: { tracksHolders: boolean }): ComponentName[] => [
  ...(stable === REFERENCE_STABLE ? (['peg', 'breaks', 'liquidity'] as const) : []),
  ...(tracksHolders ? [] : (['concentration'] as const)),
]

type Created = Pick<RiskInputsRow, 'stable' | 'created_block' | 'created_at'>

/**
 * What is known of each of these stables at `at`, and whether holders are tracked: whether any transfers of the last day are
 * stored. In six statements for up to 2,000 stables.
 */
export async function knownAt(
  clickhouse: ClickHouseClient,
  { at, stables }: { at: Date; stables: readonly Created[] },
) {
  const to = at.getTime() / 1000
  const [ledger, periods, quotes, days] = await Promise.all([
    storedRanges(clickhouse).then((ranges) => ({ ranges })),
    readSampling(clickhouse),
    sellQuotesAt(clickhouse, { from: new Date((to - MOST_DEPTH_AGE) * 1000), at }),
    depthsOfDay(clickhouse, { at }),
  ])
  const isWhole = (family: Family, { stable, created_block }: Created, from: number): boolean =>
    isRead(ledger, family, { stable, created_block, from, to })
  const tracksHolders = storedFor(ledger, 'transfers').some(
    ({ from_time, to_time }) => (from_time ?? to) <= to && (to_time ?? 0) > to - DAY_SECONDS,
  )
  const whole = tracksHolders ? stables.filter((created) => isWhole('transfers', created, 0)) : []
  const balancesOf = await concentrations(clickhouse, { stables: whole.map(({ stable }) => stable), at })
  const depthsOf = new Map(days.map((depths) => [depths.stable, depths]))
  const quotesOf = new Map<string, SellQuote[]>()
  for (const quote of quotes) quotesOf.set(quote.stable, [...(quotesOf.get(quote.stable) ?? []), quote])
  const knownOf = (created: Created): ReadInputs => {
    const { stable, created_block: block_number, created_at: block_time } = created
    const unsampled = unsampledRanges(periods, { stable, created: { block_number, block_time } })
    const isSampled = (seconds: number): boolean =>
      isWhole('pegs', created, to - seconds) &&
      !unsampled.some((range) => range.from <= to && (range.to ?? to + 1) > to - seconds)
    return {
      isDaySampled: isSampled(DAY_SECONDS),
      isWeekSampled: isSampled(WEEK_SECONDS),
      state_read_from: rangeAt(ledger, 'state', to, stable)?.from_block ?? null,
      areLogsRead: isWhole('logs', created, to - WEEK_SECONDS),
      quotes: isSampled(MOST_DEPTH_AGE) ? (quotesOf.get(stable) ?? []) : [],
      depths: depthsOf.get(stable) ?? null,
      held: balancesOf.get(stable) ?? null,
    }
  }
  return { tracksHolders, knownOf }
}
