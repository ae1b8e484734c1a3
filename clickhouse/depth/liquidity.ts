import { z } from 'zod'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import type { SideQuote } from '../exchange/stable-quotes.js'
import { QuoteStatus } from '../peg/price.js'
import { defineRow } from '../store/define-query.js'
import { integerText } from '../store/values.js'

/** How far from the peg, in basis points, depth is measured. */
export const DEPTH_BPS = [10, 50, 100] as const

/** The distance from the peg of the depth that `exit_share` compares with the supply. */
export const EXIT_BPS = 50

type Side = 'sell' | 'buy'

/** Both sides of the book at a size, in base units of the reference stable; null without a quote. */
export type SizeQuotes = {
  size_tokens: number
  sell_status: QuoteStatus
  sell_raw: string | null
  buy_status: QuoteStatus
  buy_raw: string | null
}

type SidePrice = { status: QuoteStatus; price: number | null; deviation_bps: number | null }

const baseUnits = (size_tokens: number): bigint => BigInt(size_tokens) * 1_000_000n

/**
 * The average price of one token of `size_tokens`, and its signed distance from 1 in basis points; both null without a quote.
 * In integers until the last division: the difference between two close prices has few significant digits.
 */
function sidePrice(status: QuoteStatus, raw: string | null, size_tokens: number): SidePrice {
  if (raw === null) return { status, price: null, deviation_bps: null }
  const whole = baseUnits(size_tokens)
  return {
    status,
    price: Number(raw) / Number(whole),
    deviation_bps: (Number(BigInt(raw) - whole) * 10_000) / Number(whole),
  }
}

/** How much worse than 1 the average price for selling a size is, in basis points; negative if it is better, null without a quote. */
export function sellCostBps({
  sell_status,
  sell_raw,
  size_tokens,
}: Omit<SizeQuotes, 'buy_status' | 'buy_raw'>): number | null {
  const { deviation_bps } = sidePrice(sell_status, sell_raw, size_tokens)
  return deviation_bps === null ? null : 0 - deviation_bps
}

/**
 * The prices of a size on both sides, their middle, and half of their difference in basis points of the middle. The latter two
 * are null without both quotes.
 */
export function sizePrices({ size_tokens, sell_status, sell_raw, buy_status, buy_raw }: SizeQuotes) {
  const sides = {
    size_tokens,
    sell: sidePrice(sell_status, sell_raw, size_tokens),
    buy: sidePrice(buy_status, buy_raw, size_tokens),
  }
  if (sell_raw === null || buy_raw === null) return { ...sides, mid_price: null, half_spread_bps: null }
  const [sell, buy] = [BigInt(sell_raw), BigInt(buy_raw)]
  return {
    ...sides,
    mid_price: Number(sell + buy) / Number(2n * baseUnits(size_tokens)),
    half_spread_bps: (Number(buy - sell) * 10_000) / Number(sell + buy),
  }
}

/** A sampled size of one side. `cost_bps` is how much worse than 1 its price is, negative if it is better; null without a quote. */
type Point = { size_tokens: number; status: QuoteStatus; cost_bps: number | null }

/** One side of the sampled sizes, smallest first. */
const pointsOf = (side: Side, rows: readonly SizeQuotes[]): Point[] =>
  rows
    .map((row) => {
      const { size_tokens } = row
      if (side === 'sell') return { size_tokens, status: row.sell_status, cost_bps: sellCostBps(row) }
      return {
        size_tokens,
        status: row.buy_status,
        cost_bps: sidePrice(row.buy_status, row.buy_raw, size_tokens).deviation_bps,
      }
    })
    .toSorted((a, b) => a.size_tokens - b.size_tokens)

/**
 * How many tokens can be traded within a distance from the peg. `tokens` is an estimate between two sampled sizes, null where
 * none can be made; the other two are what was measured, null where nothing was.
 */
export type Depth = { tokens: number | null; at_least_tokens: number | null; less_than_tokens: number | null }

/**
 * The largest size whose average price is at most `bps` basis points worse than 1. `at_least_tokens` is the largest sampled
 * size of which that is true, and `less_than_tokens` the next larger one of which it is not, because its price is worse or the
 * book ends before it. Where these are neighbours with a price each, `tokens` is the size at which a straight line over the
 * logarithm of the size reaches the limit. Outside the sampled sizes nothing is estimated.
 */
export function depthWithin(side: Side, rows: readonly SizeQuotes[], bps: number): Depth {
  const points = pointsOf(side, rows)
  const last = points.findLastIndex(({ cost_bps }) => cost_bps !== null && cost_bps <= bps)
  const beyond = points.findIndex(
    ({ cost_bps, status }, i) => i > last && (cost_bps === null ? status === 'no_liquidity' : cost_bps > bps),
  )
  const [from, to] = [points[last], points[beyond]]
  const bounds = { at_least_tokens: from?.size_tokens ?? null, less_than_tokens: to?.size_tokens ?? null }
  if (!from || !to || beyond !== last + 1 || from.cost_bps === null || to.cost_bps === null)
    return { tokens: null, ...bounds }
  const share = (bps - from.cost_bps) / (to.cost_bps - from.cost_bps)
  return { tokens: from.size_tokens * (to.size_tokens / from.size_tokens) ** share, ...bounds }
}

/** Why there is no price of a size: the status of its quote, or `unknown` where logs of the exchange contradict each other. */
export const SIZE_REASONS = [...QuoteStatus.options, 'unknown'] as const

/** The price of a size; `reason` says why there is none, and is null if there is one. */
type SizePrice = {
  price: number | null
  cost_bps: number | null
  reason: (typeof SIZE_REASONS)[number] | null
}

/**
 * The average price of one token of `size_tokens`, in the reference stable, and how much worse than 1 it is in basis points,
 * negative if it is better.
 */
export function sizePrice(side: Side, quote: SideQuote | null, size_tokens: number): SizePrice {
  if (!quote || quote.amount === null) return { price: null, cost_bps: null, reason: quote?.status ?? 'unknown' }
  const { price, deviation_bps } = sidePrice(quote.status, `${quote.amount}`, size_tokens)
  const worse = side === 'sell' ? -1 : 1
  return { price, cost_bps: deviation_bps === null ? null : 0 + worse * deviation_bps, reason: null }
}

/**
 * The depth for selling at EXIT_BPS as a share of the supply, which is in base units. Above 1 where more is bid for than exists;
 * all null if the supply is 0 or was never read.
 */
export function exitShare({ tokens, at_least_tokens, less_than_tokens }: Depth, supply: string | null) {
  const total = supply === null ? 0 : Number(supply)
  const share = (depth: number | null): number | null => (depth === null || total === 0 ? null : (depth * 1e6) / total)
  return { share: share(tokens), at_least: share(at_least_tokens), less_than: share(less_than_tokens) }
}

/** More links than any route has that the exchange is asked about. */
const MOST_LINKS = 8

/**
 * A stable's supply at `at`, in base units; null if it was never read. And the route on which the exchange trades it at the end
 * of a block: the stable, its quote token, the quote token of that, and so on, as far as tokens are known.
 */
export const supplyAndRoute = recentFirst(
  defineRow({
    name: 'supply_and_route',
    params: z.object({ stable: z.string(), at: z.date(), block_number: z.int(), recent_only: z.boolean() }),
    row: z.object({ supply_raw: integerText.nullable(), route: z.array(z.string()) }),
    sql: `
    WITH
        (SELECT argMaxOrNull(toString(supply_raw), (block_time, block_number)) FROM state_reads
         WHERE stable = {stable: String} AND block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}) AS supply,
        (SELECT (groupArray(token), groupArray(newest)) FROM
         (
             SELECT stable AS token, argMax(quote_token, (block_number, log_index)) AS newest
             FROM
             (
                 SELECT stable, quote_token, block_number, log_index FROM stablecoins
                 UNION ALL
                 SELECT stable, quote_token, block_number, log_index FROM quote_token_updates
             )
             WHERE block_number <= {block_number: UInt64}
             GROUP BY token
         )) AS links
    SELECT supply AS supply_raw,
           arrayFold((route, link) -> if(has(links.1, route[-1]), arrayPushBack(route, links.2[indexOf(links.1, route[-1])]), route),
                     range(${MOST_LINKS}), [{stable: String}]) AS route`,
  }),
  ({ supply_raw }) => supply_raw !== null,
)

/** A route up to the reference stable; null if it does not lead there, or is the reference stable itself. */
export function routeTo(reference: string, route: readonly string[]): string[] | null {
  const end = route.indexOf(reference)
  return end > 0 ? route.slice(0, end + 1) : null
}
