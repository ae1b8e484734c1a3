import type { DepthSample, PegSample } from './facts.js'
import { iso } from './rows.js'

/** The average price for `size` tokens, and by how many basis points it is worse than that of a single one. */
export function depthQuote(
  side: 'sell' | 'buy',
  status: string,
  raw: string | null,
  size: number,
  single: number | null,
) {
  if (raw === null) return { status, amount: null, price: null, slippage_bps: null }
  const price = Number(raw) / 1e6 / size
  const loss = side === 'sell' ? BigInt((single ?? 0) * size) - BigInt(raw) : BigInt(raw) - BigInt((single ?? 0) * size)
  return { status, amount: raw, price, slippage_bps: single ? (1e4 * Number(loss)) / (single * size) : null }
}

/** The depth of a stable as of an instant, from its own samples in chain order. */
export function depthAt(depth: readonly DepthSample[], samples: readonly PegSample[], at: number) {
  const newest = depth.findLast(({ block_time }) => block_time <= at)
  if (!newest) return { block_number: null, sampled_at: null, sizes: [] }
  const { block_number, block_time } = newest
  const single = samples.find((sample) => sample.block_number === block_number)
  return {
    block_number,
    sampled_at: iso(block_time),
    sizes: depth
      .filter((row) => row.block_number === block_number)
      .sort((a, b) => a.size_tokens - b.size_tokens)
      .map(({ size_tokens, sell_status, sell_raw, buy_status, buy_raw }) => ({
        size_tokens,
        sell: depthQuote('sell', sell_status, sell_raw, size_tokens, single?.sell_micros ?? null),
        buy: depthQuote('buy', buy_status, buy_raw, size_tokens, single?.buy_micros ?? null),
      })),
  }
}
