/** Characters that show nothing, or change how others are shown: controls, bidirectional marks, lone surrogates, fillers. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+/gu
/** More marks on one letter than any script needs. */
const PILES = /(\p{M}{2})\p{M}+/gu

/** Text that anybody may have written, as one line of visible characters; at most `most` of them. */
export function visibleText(text: string, most: number): string {
  const visible = [...text.replaceAll(UNSEEN, ' ').replaceAll(PILES, '$1').trim()]
  return visible.length > most ? `${visible.slice(0, most - 1).join('')}\u2026` : visible.join('')
}

/** Characters that XML 1.0 does not allow, not even escaped: https://www.w3.org/TR/xml/#charsets */
const NOT_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * Text for XML and HTML: between tags, between double quotes of an attribute, and in a CDATA section of HTML. Characters that
 * XML cannot have become U+FFFD.
 */
export const markupText = (text: string): string =>
  text.replaceAll(NOT_XML, '\ufffd').replaceAll(/[&<>"]/g, (character) => ENTITIES[character] as string)

/** What a terminal obeys or hides, without the line feed. */
const OBEYED = /[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[^\P{C}\n]/gu

/** Lines for a terminal or a log: a character that a terminal obeys or hides becomes its escape in JSON. */
export const terminalText = (lines: string): string =>
  lines.replaceAll(OBEYED, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
