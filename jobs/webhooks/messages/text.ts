/** Most characters of a name. */
const LONGEST_NAME = 20

/**
 * A name that anybody may have chosen, as it may stand in a message: one word of ASCII letters, digits, `-` and `_`, so that it
 * is neither markup, a mention nor a link in any service, changes no direction of writing, and shows a letter of another
 * alphabet as `?` instead of as its double. A dot stays before a last letter and a plus at the end, as in USDC.e and USD+,
 * where they make neither a link nor a telephone number. Empty if nothing is left.
 */
export function safeName(name: string): string {
  const word = name
    .trim()
    .replaceAll(/[^A-Za-z0-9+\-_.]+/g, '?')
    .replaceAll(/\.(?![A-Za-z]$)|\+(?!$)/g, '?')
  if (!/[A-Za-z0-9]/.test(word)) return ''
  return word.length > LONGEST_NAME ? `${word.slice(0, LONGEST_NAME - 1)}…` : word
}

/** The start of a text whose escaped form has at most `most` UTF-16 code units, escaped; what is cut off shows as `…`. */
export function fitted(text: string, most: number, escaped: (text: string) => string = (same) => same): string {
  if (escaped(text).length <= most) return escaped(text)
  let start = ''
  for (const character of text) {
    const next = start + escaped(character)
    if (next.length >= most) break
    start = next
  }
  return `${start}…`
}

/**
 * As many of the lines as have at most `most` UTF-16 code units together, escaped and with how many are left out. A text that is not
 * a list is cut like any other.
 */
export function fittedLines(
  lines: string | readonly string[],
  most: number,
  escaped: (text: string) => string = (same) => same,
): string {
  if (typeof lines === 'string') return fitted(lines, most, escaped)
  let shown = ''
  for (const [i, line] of lines.entries()) {
    const next = shown + (i === 0 ? '' : '\n') + escaped(line)
    const left = lines.length - i - 1
    const more = left === 0 ? '' : escaped(moreText(left))
    if (next.length + more.length > most) return shown + escaped(moreText(left + 1))
    shown = next
  }
  return shown
}

const moreText = (left: number): string => `\nand ${left} more`

const DAY = 86_400
const HOUR = 3600
const MINUTE = 60

/** A time span in words: its two largest units, the rest left out. */
export function spanText(seconds: number): string {
  const units: [number, string][] = [
    [Math.floor(seconds / DAY), 'd'],
    [Math.floor((seconds % DAY) / HOUR), 'h'],
    [Math.floor((seconds % HOUR) / MINUTE), 'min'],
    [Math.floor(seconds % MINUTE), 's'],
  ]
  const first = units.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  const largest = units.slice(first, first + 2).filter(([count]) => count > 0)
  return largest.map(([count, unit]) => `${count} ${unit}`).join(' ')
}

/** An ISO 8601 text to the second, as people write it. */
export const timeText = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })

/** A number with at most two decimals, its thousands grouped. */
export const numberText = (value: number): string => GROUPED.format(value)
