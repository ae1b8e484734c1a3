import type { Hex } from 'viem'
import { depthQuote } from '../../../../oracle/depth.js'
import * as stablecoins from '../../../../oracle/stablecoins.js'
import type { Block } from './node.js'

/**
 * What docs/methodology/ defines, computed from the answers of a node alone: by the oracle, which uses nothing of the
 * service, so that an error of its own is found.
 */

/** Six decimals. */
export const ONE_TOKEN = 1_000_000n
export const DEPTH_SIZES = [1_000, 10_000, 100_000, 1_000_000] as const
/** Depth is sampled at the first block of every aligned five minutes at least. */
const DEPTH_PERIOD_SECONDS = 300

/** If more books lie between a stable and the reference, the exchange is not asked. */
export const MOST_BOOKS = 8

/** What the exchange says about a size: base units of the reference stable, or why there is no price. */
export type Quote = { status: string; amount: bigint | null }
export type Sample = { sell: Quote; buy: Quote }

/** What the exchange quoted at the end of a block. Rejects with NodeError. */
export type Quotes = {
  /** One token, as docs/methodology/peg.md defines a sample. */
  sample: (stable: Hex, block: Block) => Promise<Sample>
  /** A single token, and every size of depth. */
  depth: (stable: Hex, block: Block) => Promise<{ single: Sample; depths: Array<Sample & { size: number }> }>
}

/** The quote of `amount` for `size` base units. A price is between a half and twice. */
export const quoteOf = (size: bigint, amount: bigint): Quote =>
  amount * 2n < size || amount > size * 2n ? { status: 'out_of_range', amount: null } : { status: 'quoted', amount }

/** The sample of the reference stable. */
export const ANCHOR: Sample = {
  sell: { status: 'anchor', amount: ONE_TOKEN },
  buy: { status: 'anchor', amount: ONE_TOKEN },
}

/** A sample that has no price for a reason that is not the exchange's. */
export const without = (status: string): Sample => ({ sell: { status, amount: null }, buy: { status, amount: null } })

export const hasOlderPrice = ({ sell }: Sample): boolean => !stablecoins.UNQUOTABLE.includes(sell.status)

/** The price of one token, and its distance from 1 in basis points; null without a quote. */
export const priceOf = ({ amount }: Quote) =>
  amount === null ? { price: null, spread_bps: null } : stablecoins.priceOf(Number(amount))

/** What a size sells for or costs, and how much worse a token of it is than a single one. */
export const depthOf = (side: 'sell' | 'buy', tokens: number, { status, amount }: Quote, single: Quote) =>
  depthQuote(
    side,
    status,
    amount === null ? null : `${amount}`,
    tokens,
    single.amount === null ? null : Number(single.amount),
  )

export const capOf = (cap: bigint): string | null => stablecoins.capOf(`${cap}`)

/** Policies 0 and 1 are built in; the registry knows the type of the others. */
export const policyTypeOf = (id: bigint, type: number | null): string =>
  id === 0n ? 'reject_all' : id === 1n ? 'allow_all' : (['whitelist', 'blacklist', 'compound'][type ?? -1] ?? 'unknown')

export const adminOf = (admin: string | null): string | null =>
  admin === null || /^0x0+$/.test(admin) ? null : admin.toLowerCase()

/** The aligned five minutes of a time in unix seconds. */
export const depthPeriodOf = (time: number): number => Math.floor(time / DEPTH_PERIOD_SECONDS)

/** Whether two figures are the same, apart from the last digits of a division. */
export function isSame(published: unknown, computed: unknown): boolean {
  if (typeof published === 'number' && typeof computed === 'number')
    return Math.abs(published - computed) <= 1e-9 * Math.max(1, Math.abs(computed))
  if (published === null || computed === null || typeof published !== 'object' || typeof computed !== 'object')
    return published === computed
  const [left, right] = [Object.entries(published), new Map(Object.entries(computed))]
  return left.length === right.size && left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)))
}
