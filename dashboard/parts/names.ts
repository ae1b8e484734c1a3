/**
 * Characters that show nothing or change how others are shown: controls, bidirectional marks, joiners, tags, private ones,
 * and letters without a shape.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/** More marks on one letter than any script needs. */
const PILES = /(\p{M}{2})\p{M}+/gu

/** The longest symbol that is shown whole. */
const LONGEST = 12

/** Text of a stranger, as one line of visible characters; at most `longest` of them. */
export function plainText(text: string, longest: number): string {
  // Only so much is looked at: a name may have thousands of characters, most of them invisible.
  const visible = text
    .slice(0, 50 * longest)
    .replaceAll(INVISIBLE, '')
    .replaceAll(PILES, '$1')
    .replaceAll(/\s+/g, ' ')
  const letters = [...visible.trim()]
  return letters.length <= longest ? letters.join('') : `${letters.slice(0, longest - 1).join('')}…`
}

/** The beginning and the end of an address. */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`

export type Named = { address: string; symbol: string }

/** What a stable is called on the page. `isShared`: another stable has the same symbol, so its address is part of it. */
export type Label = { text: string; isShared: boolean }

/** Symbols that look the same are the same here. */
const sameness = (text: string): string => text.normalize('NFKC').toLowerCase()

/** The labels of stables by address: no two are alike. */
export function labelsOf(stables: readonly Named[]): Map<string, Label> {
  const texts = stables.map(({ symbol }) => plainText(symbol, LONGEST) || 'no symbol')
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(sameness(text), (counts.get(sameness(text)) ?? 0) + 1)
  return new Map(
    stables.map(({ address }, i) => {
      const text = texts[i] as string
      const isShared = (counts.get(sameness(text)) as number) > 1 || text === 'no symbol'
      return [address, { text: isShared ? `${text} ${address.slice(-4)}` : text, isShared }]
    }),
  )
}
