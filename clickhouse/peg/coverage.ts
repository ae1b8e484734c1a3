import type { QuoteStatus } from './price.js'

/** How much of an answer was measured, and in words why it is not all of it. */
export type Coverage = { status: 'complete' | 'partial' | 'unavailable'; message: string }

const REASON: Record<Exclude<QuoteStatus, 'quoted' | 'anchor'>, string> = {
  no_liquidity: 'nobody on the DEX buys it',
  no_pair: 'the DEX has no pair for it',
  not_usd: 'it is not a USD stablecoin, so it has no peg to the reference stable',
  paused: 'its transfers are paused',
  failed: 'the DEX gave no quote',
}

/**
 * What a price that rests on the newest sample's `status` covers: complete when that sample has a price, partial when
 * only an older one has (`isPriced`), unavailable when none has. `status` is null where nothing was sampled.
 */
export function pegCoverage(status: QuoteStatus | null, isPriced: boolean): Coverage {
  if (status === null) return { status: 'unavailable', message: 'It has not been sampled yet.' }
  if (status === 'quoted') return { status: 'complete', message: 'Quoted on the DEX.' }
  if (status === 'anchor') return { status: 'complete', message: 'The reference stable: its price is 1 by definition.' }
  if (!isPriced) return { status: 'unavailable', message: `No price: ${REASON[status]}.` }
  return {
    status: 'partial',
    message: `No price at the newest sample: ${REASON[status]}. The last price before is shown.`,
  }
}
