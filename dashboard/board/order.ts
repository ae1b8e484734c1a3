import { tokensOf } from '../parts/figures.js'
import { type Label, plainText } from '../parts/names.js'
import type { Place, Sort } from '../state/place.js'
import { type ListedStable, standingOf } from './stables.js'

/** Larger comes first; null is last, whatever the others are. */
const descending = (a: number | null, b: number | null): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return b - a
}

/** How far it is from the peg; a stable without a quote is further than any price. */
function distanceOf(stable: ListedStable): number | null {
  const standing = standingOf(stable)
  if (standing.is === 'quoted') return Math.abs(standing.bps)
  return standing.is === 'unquoted' ? Number.MAX_VALUE : null
}

const KEYS: Record<Exclude<Sort, 'symbol'>, (stable: ListedStable) => number | null> = {
  deviation: distanceOf,
  worst: ({ max_deviation_24h_bps }) => max_deviation_24h_bps,
  risk: ({ risk_score }) => risk_score ?? null,
  supply: ({ supply }) => (supply ? tokensOf(supply.current) : null),
}

type Order = { sort: Sort; pins: readonly string[]; labels: ReadonlyMap<string, Label> }

/**
 * The stables in the order in which they are shown: pinned ones first, then by `sort`, then by symbol and address, so
 * that the order by symbol never changes by itself.
 */
export function ordered(stables: readonly ListedStable[], { sort, pins, labels }: Order): ListedStable[] {
  const pinOf = ({ address }: ListedStable): number => {
    const i = pins.indexOf(address)
    return i === -1 ? pins.length : i
  }
  const textOf = ({ address }: ListedStable): string => labels.get(address)?.text.toLowerCase() ?? ''
  const key = sort === 'symbol' ? null : KEYS[sort]
  return [...stables].sort(
    (a, b) =>
      pinOf(a) - pinOf(b) ||
      (key ? descending(key(a), key(b)) : 0) ||
      (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : a.address < b.address ? -1 : 1),
  )
}

/**
 * Whether a stable belongs into the picture: on a chain where only listed stables are sampled, there may be thousands of
 * others, with nothing to draw. They are in the table, and in the picture if they are pinned or searched for.
 */
export const isDrawn = (
  { tracked, address }: Pick<ListedStable, 'tracked' | 'address'>,
  { shape, search, pins }: Pick<Place, 'shape' | 'search' | 'pins'>,
): boolean => tracked !== false || shape === 'table' || search.trim() !== '' || pins.includes(address)

/** Whether a stable is searched for: by a part of its symbol or name, or by the beginning of its address. */
export function isFound({ symbol, name, address }: ListedStable, search: string): boolean {
  const text = search.trim().toLowerCase()
  if (text === '') return true
  return [symbol, name].some((part) => plainText(part, 100).toLowerCase().includes(text)) || address.startsWith(text)
}
