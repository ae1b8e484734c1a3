import { isoSeconds } from '../../process/instants.js'
import type { DataState } from '../chain/coverage.js'
import { MOST_UNLISTED, type Unsampled } from '../chain/sampling.js'
import type { CurrentPeg } from './current.js'
import type { QuoteStatus } from './price.js'

const REASON: Record<Exclude<QuoteStatus, 'quoted' | 'anchor'>, string> = {
  no_liquidity: 'no one on the DEX is buying it',
  no_pair: 'the DEX has no pair for it',
  not_usd: 'it is not a USD stablecoin, so it has no peg to the reference stable',
  paused: 'its transfers are paused',
  failed: 'the DEX gave no quote',
  out_of_range: 'the DEX gave a quote below a half or above two, which is not a price',
  too_deep: 'more than eight books lie between it and the reference stable',
}

/**
 * The coverage of a price, given the newest sample's `status`: complete if that sample has a price, partial if only an
 * older one has (`isPriced`), unavailable if none has. `status` is null if nothing was sampled, or if the stable is no
 * longer sampled, as `unsampled` says.
 */
export function pegCoverage(
  status: QuoteStatus | null,
  isPriced: boolean,
  unsampled: Unsampled | null = null,
): DataState {
  if (unsampled?.since)
    return {
      status: 'unavailable',
      message: `It has not been sampled since ${isoSeconds(unsampled.since)}, when it was no longer on the token list.`,
    }
  if (unsampled) {
    const others =
      unsampled.track === 'paired' ? `, nor among the first ${MOST_UNLISTED} others with a book on the DEX` : ''
    return { status: 'unavailable', message: `It is not sampled, because it is not on the token list${others}.` }
  }
  if (status === null) return { status: 'unavailable', message: 'It has not been sampled yet.' }
  if (status === 'quoted') return { status: 'complete', message: 'Quoted on the DEX.' }
  if (status === 'anchor') return { status: 'complete', message: 'The reference stable: its price is 1 by definition.' }
  if (!isPriced) return { status: 'unavailable', message: `No price: ${REASON[status]}.` }
  return {
    status: 'partial',
    message: `No price at the newest sample: ${REASON[status]}. The last price before it is shown.`,
  }
}

/** The coverage of a price whose newest sample, of `block_time`, is too old to say anything about the instant of the answer. */
export const outdated = (block_time: Date, { status, message }: DataState): DataState => ({
  status: status === 'unavailable' ? status : 'partial',
  message: `Its newest sample is of ${isoSeconds(block_time)}, more than two minutes before: whether it can be sold is not known.${status === 'complete' ? '' : ` ${message}`}`,
})

/**
 * What the newest sample says about a list of breaks: without a price no break is seen, so that an empty list does not mean
 * that the peg held. Null if there is a price, or no sample, of which the coverage tells already.
 */
export function breaksState({ newest, lost }: CurrentPeg): DataState | null {
  if (newest === null || lost === null || newest.status === 'quoted' || newest.status === 'anchor') return null
  const why = REASON[newest.status]
  if (lost.priced === null) return { status: 'unavailable', message: `It has never had a price: ${why}.` }
  return { status: 'partial', message: `No price since ${isoSeconds(lost.since)}, so that no break is seen: ${why}.` }
}
