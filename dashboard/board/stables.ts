import type { ListStablecoinsData } from '../../clients/typescript/src/types.js'

type Listed = ListStablecoinsData['stablecoins'][number]

/** A stable as the list of stables has it, as far as the board uses it. */
export type ListedStable = Pick<
  Listed,
  'address' | 'symbol' | 'name' | 'tracked' | 'supply' | 'max_deviation_24h_bps' | 'risk_score' | 'open_break'
> & {
  peg: Pick<NonNullable<Listed['peg']>, 'price' | 'mid_price' | 'quoted' | 'sampled_at'> | null
  quote: Pick<NonNullable<Listed['quote']>, 'quoted' | 'unquoted_since'> | null
  coverage: Pick<Listed['coverage'], 'status' | 'message'>
}

/** Signed distance from the peg in basis points, of a price in whole units. Prices have six decimals. */
export const deviationOf = (price: number): number => Math.round((price - 1) * 1e6) / 100

/** Where a stable is at one moment. */
export type Standing = { is: 'quoted'; bps: number } | { is: 'unquoted' } | { is: 'unmeasured' }

/** Where a stable is, by the list: the middle of bid and ask where both exist, else the bid. */
export function standingOf({ peg, quote }: Pick<ListedStable, 'peg' | 'quote'>): Standing {
  // Null: the newest sample is too old to say.
  if (quote === null || quote.quoted === null) return { is: 'unmeasured' }
  return quote.quoted && peg !== null
    ? { is: 'quoted', bps: deviationOf(peg.mid_price ?? peg.price) }
    : { is: 'unquoted' }
}

/** The bands of SPEC's peg breaks, in basis points. */
export const MILD_BPS = 10
export const SEVERE_BPS = 50

/** How far a deviation is out: within both bands, outside of the first, or of both. */
export function bandOf(bps: number): 0 | 1 | 2 {
  const size = Math.abs(bps)
  return size > SEVERE_BPS ? 2 : size > MILD_BPS ? 1 : 0
}

/** Up to this many are named in a sentence. */
const MOST_NAMED = 3

/** How the stables are, in a sentence that names those that are not at their pegs, if they are few. */
export function summaryOf(stables: readonly { name: string; standing: Standing }[]): string {
  const those = (is: (standing: Standing) => boolean): string[] =>
    stables.filter(({ standing }) => is(standing)).map(({ name }) => name)
  const within = those((standing) => standing.is === 'quoted' && bandOf(standing.bps) === 0)
  const part = (names: readonly string[], what: string): string | false =>
    names.length > 0 && `${names.length} ${what}${names.length <= MOST_NAMED ? ` (${names.join(', ')})` : ''}`
  const outside = those((standing) => standing.is === 'quoted' && bandOf(standing.bps) === 1)
  const severe = those((standing) => standing.is === 'quoted' && bandOf(standing.bps) === 2)
  const parts = [
    `${within.length} of ${stables.length} within ${MILD_BPS} bps of the peg`,
    part(severe, `outside by more than ${SEVERE_BPS} bps`),
    part(outside, `outside by ${MILD_BPS} to ${SEVERE_BPS} bps`),
    part(
      those(({ is }) => is === 'unquoted'),
      'without a quote',
    ),
    part(
      those(({ is }) => is === 'unmeasured'),
      'not measured',
    ),
  ]
  return `${parts.filter(Boolean).join('; ')}.`
}
