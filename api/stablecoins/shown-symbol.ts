import { visibleText } from '../../process/untrusted-text.js'

/** Most characters of a symbol in a text. */
const LONGEST = 20

/**
 * A symbol as it may stand in a text that others show: without characters that are invisible or change the direction of
 * what follows, shortened, and the start of the address if nothing is left. Anyone can name a token as they like, so
 * texts name its address too.
 */
export function shownSymbol(symbol: string, address: string): string {
  return visibleText(symbol, LONGEST) || `${address.slice(0, 10)}\u2026`
}
