import { z } from 'zod'

/**
 * The most characters (Unicode code points) that are kept of each text of a stable, which anybody can make as long as they
 * pay for. On the public token list the longest symbol has 9, and the longest name 23.
 */
export const MOST_CHARACTERS = { symbol: 64, name: 256, currency: 64 } as const

const TEXTS = ['symbol', 'name', 'currency'] as const

export const stableSymbol = z.string().meta({
  description: `Symbol of the stable, as its issuer wrote it; the first ${MOST_CHARACTERS.symbol} characters`,
})
export const stableName = z.string().meta({
  description: `Name of the stable, as its issuer wrote it; the first ${MOST_CHARACTERS.name} characters`,
})

export const Truncated = z.array(z.enum(TEXTS)).meta({
  description: 'Which of the texts are cut here, because they are longer on the chain',
})

type Texts = Record<(typeof TEXTS)[number], string>

/** The first characters of a text; the same text if it has no more. */
function beginning(text: string, most: number): string {
  // A character has one or two units.
  if (text.length <= most) return text
  return [...text.slice(0, 2 * most)].slice(0, most).join('')
}

/** The texts of a stable as they are kept, and which of them are cut. */
export function keptTexts({ symbol, name, currency }: Texts): Texts & { truncated: z.infer<typeof Truncated> } {
  const texts = { symbol, name, currency }
  const kept = Object.fromEntries(TEXTS.map((text) => [text, beginning(texts[text], MOST_CHARACTERS[text])])) as Texts
  return { ...kept, truncated: TEXTS.filter((text) => kept[text] !== texts[text]) }
}
