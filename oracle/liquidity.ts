import type { DepthSample } from './facts.js'
import { iso } from './rows.js'

export const REFERENCE = '0x20c0000000000000000000000000000000000000'
const LIMITS = [10, 50, 100]

/** What a token is quoted in from a block on. */
export type QuotedIn = { stable: string; quote_token: string; block_number: number; log_index: number }

export type LiquidityFacts = {
  /** Of one stable, in chain order. */
  depth: readonly DepthSample[]
  states: readonly { block_time: number; supply_raw: string }[]
  /** Of all stables, in chain order. */
  quotedIn: readonly QuotedIn[]
}

/** Rows of one block, by size. */
const bySize = (rows: readonly DepthSample[]) => rows.toSorted((a, b) => a.size_tokens - b.size_tokens)

const unitsOf = (size: number): bigint => BigInt(size) * 10n ** 6n

/** How many base units fewer than one for one are got, or more are paid. */
export function lossOf(side: 'sell' | 'buy', row: DepthSample): bigint | null {
  const raw = side === 'sell' ? row.sell_raw : row.buy_raw
  if (raw === null) return null
  const excess = BigInt(raw) - unitsOf(row.size_tokens)
  return side === 'sell' ? -excess : excess
}

const bpsOf = (difference: bigint, units: bigint): number => (1e4 * Number(difference)) / Number(units)

/** The prices of each size, their middle and half their difference. */
function sizesOf(rows: readonly DepthSample[]) {
  return bySize(rows).map((row) => {
    const units = unitsOf(row.size_tokens)
    const side = (status: string, raw: string | null) => ({
      status,
      price: raw === null ? null : Number(raw) / 1e6 / row.size_tokens,
      deviation_bps: raw === null ? null : bpsOf(BigInt(raw) - units, units),
    })
    const [received, paid] = [row.sell_raw, row.buy_raw].map((raw) => (raw === null ? null : BigInt(raw)))
    const isTwoSided = received !== null && received !== undefined && paid !== null && paid !== undefined
    return {
      size_tokens: row.size_tokens,
      sell: side(row.sell_status, row.sell_raw),
      buy: side(row.buy_status, row.buy_raw),
      mid_price: isTwoSided ? Number(received + paid) / 2e6 / row.size_tokens : null,
      half_spread_bps: isTwoSided ? bpsOf(paid - received, paid + received) : null,
    }
  })
}

/** The size between two at which a cost is reached that grows evenly with the logarithm of the size. */
function sizeAt(limit: number, from: { size: number; cost: number }, to: { size: number; cost: number }): number {
  const [low, high] = [Math.log(from.size), Math.log(to.size)]
  return Math.exp(low + ((high - low) * (limit - from.cost)) / (to.cost - from.cost))
}

/** The largest size that is at most `limit` bps worse than one for one. */
export function depthOf(side: 'sell' | 'buy', samples: readonly DepthSample[], limit: number) {
  const rows = bySize(samples).map((row) => {
    const loss = lossOf(side, row)
    const status = side === 'sell' ? row.sell_status : row.buy_status
    const isWithin = loss !== null && loss * 10_000n <= BigInt(limit) * unitsOf(row.size_tokens)
    const isBeyond = loss === null ? status === 'no_liquidity' : !isWithin
    const cost = loss === null ? null : bpsOf(loss, unitsOf(row.size_tokens))
    return { size: row.size_tokens, cost, isWithin, isBeyond }
  })
  const within = rows.filter(({ isWithin }) => isWithin).at(-1)
  const beyond = rows.find(({ size, isBeyond }) => isBeyond && size > (within?.size ?? 0))
  const areNeighbours = within && beyond && rows.indexOf(beyond) - rows.indexOf(within) === 1
  const tokens =
    areNeighbours && within.cost !== null && beyond.cost !== null
      ? sizeAt(limit, { size: within.size, cost: within.cost }, { size: beyond.size, cost: beyond.cost })
      : null
  return { tokens, at_least_tokens: within?.size ?? null, less_than_tokens: beyond?.size ?? null }
}

/** From the stable over quote tokens to the reference stable, as of the end of a block. */
function routeOf(stable: string, quotedIn: readonly QuotedIn[], block: number): string[] | null {
  const route = [stable]
  while (route.at(-1) !== REFERENCE) {
    const last = route.at(-1)
    const link = quotedIn.findLast((change) => change.stable === last && change.block_number <= block)
    if (!link || route.length > 8) return null
    route.push(link.quote_token)
  }
  return route.length === 1 ? null : route
}

/** The liquidity of a stable as of an instant. */
export function liquidityAt({ depth, states, quotedIn }: LiquidityFacts, stable: string, at: number) {
  const newest = depth.findLast(({ block_time }) => block_time <= at)
  const rows = depth.filter(({ block_number }) => block_number === newest?.block_number)
  const state = states.findLast(({ block_time }) => block_time <= at)
  const supply = newest && state ? state.supply_raw : null
  const exit = depthOf('sell', rows, 50)
  const share = (tokens: number | null) =>
    tokens === null || supply === null || BigInt(supply) === 0n ? null : tokens / (Number(supply) / 1e6)
  return {
    block_number: newest?.block_number ?? null,
    sampled_at: newest ? iso(newest.block_time) : null,
    sample_age_seconds: newest ? at - newest.block_time : null,
    route: newest ? routeOf(stable, quotedIn, newest.block_number) : null,
    sizes: sizesOf(rows),
    depth_at_bps: LIMITS.map((bps) => ({ bps, sell: depthOf('sell', rows, bps), buy: depthOf('buy', rows, bps) })),
    supply,
    exit_share: {
      share: share(exit.tokens),
      at_least: share(exit.at_least_tokens),
      less_than: share(exit.less_than_tokens),
    },
    exit_cost: null,
  }
}

/** The columns of buckets of `seconds` that begin at `starts`: of each, its newest sample. */
export function liquidityColumns(depth: readonly DepthSample[], starts: readonly number[], seconds: number) {
  const buckets = starts.map((start) => {
    const inside = depth.filter(({ block_time }) => block_time > start && block_time <= start + seconds)
    return inside.filter(({ block_number }) => block_number === inside.at(-1)?.block_number)
  })
  const sizes = [...new Set(buckets.flat().map(({ size_tokens }) => size_tokens))].sort((a, b) => a - b)
  const depthsOf = (side: 'sell' | 'buy') => {
    const depths = buckets.map((rows) => depthOf(side, rows, 50))
    return {
      tokens: depths.map(({ tokens }) => tokens),
      at_least_tokens: depths.map(({ at_least_tokens }) => at_least_tokens),
      less_than_tokens: depths.map(({ less_than_tokens }) => less_than_tokens),
    }
  }
  return {
    bucket_count: starts.length,
    sizes: sizes.map((size_tokens) => {
      const sizeAtBuckets = buckets.map((rows) => sizesOf(rows).find((size) => size.size_tokens === size_tokens))
      return {
        size_tokens,
        sell_deviation_bps: sizeAtBuckets.map((size) => size?.sell.deviation_bps ?? null),
        buy_deviation_bps: sizeAtBuckets.map((size) => size?.buy.deviation_bps ?? null),
        half_spread_bps: sizeAtBuckets.map((size) => size?.half_spread_bps ?? null),
        is_sampled: sizeAtBuckets.map((size) => size !== undefined),
      }
    }),
    depth_at_50bps: { sell: depthsOf('sell'), buy: depthsOf('buy') },
  }
}
