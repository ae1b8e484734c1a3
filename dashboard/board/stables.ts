import type { ListStablecoinsData } from '../api/types.js'

type Listed = ListStablecoinsData['stablecoins'][number]

/** A stable as the list of stables has it, as far as the board uses it. */
export type ListedStable = Pick<
  Listed,
  'address' | 'symbol' | 'name' | 'tracked' | 'supply' | 'max_deviation_24h_bps' | 'risk_score' | 'open_break'
> & {
  peg: Pick<NonNullable<Listed['peg']>, 'price' | 'quoted' | 'sampled_at'> | null
  quote: Pick<NonNullable<Listed['quote']>, 'quoted' | 'unquoted_since'> | null
  coverage: Pick<Listed['coverage'], 'status' | 'message'>
}

/** Signed distance from the peg in basis points, of a price in whole units. Prices have six decimals. */
export const deviationOf = (price: number): number => Math.round((price - 1) * 1e6) / 100

/** Where a stable is at one moment. */
export type Standing = { is: 'quoted'; bps: number } | { is: 'unquoted' } | { is: 'unmeasured' }

/** Where a stable is, by the list. */
export function standingOf({ peg, quote }: Pick<ListedStable, 'peg' | 'quote'>): Standing {
  if (quote === null) return { is: 'unmeasured' }
  return quote.quoted && peg !== null ? { is: 'quoted', bps: deviationOf(peg.price) } : { is: 'unquoted' }
}

/** The bands of SPEC's peg breaks, in basis points. */
export const MILD_BPS = 10
export const SEVERE_BPS = 50

/** How far a deviation is out: within both bands, outside of the first, or of both. */
export function bandOf(bps: number): 0 | 1 | 2 {
  const size = Math.abs(bps)
  return size > SEVERE_BPS ? 2 : size > MILD_BPS ? 1 : 0
}

/** How the stables are, in a sentence. */
export function summaryOf(standings: readonly Standing[]): string {
  const count = (is: (standing: Standing) => boolean): number => standings.filter(is).length
  const within = count((standing) => standing.is === 'quoted' && bandOf(standing.bps) === 0)
  const outside = count((standing) => standing.is === 'quoted' && bandOf(standing.bps) > 0)
  const severe = count((standing) => standing.is === 'quoted' && bandOf(standing.bps) === 2)
  const unquoted = count(({ is }) => is === 'unquoted')
  const unmeasured = count(({ is }) => is === 'unmeasured')
  const parts = [
    `${within} of ${standings.length} within ${MILD_BPS} bps of the peg`,
    outside > 0 && `${outside} outside${severe > 0 ? `, ${severe} of them by more than ${SEVERE_BPS} bps` : ''}`,
    unquoted > 0 && `${unquoted} without a quote`,
    unmeasured > 0 && `${unmeasured} not measured`,
  ]
  return `${parts.filter(Boolean).join('; ')}.`
}
