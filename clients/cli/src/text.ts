/** Characters that a terminal obeys or hides: controls, bidi overrides, line separators, lone surrogates, fillers. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const MARK = /\p{M}/u

/** What strangers wrote, on one line and without characters that a terminal obeys: those are shown as `\u{202e}`. */
export const printable = (text: string): string =>
  text.replace(UNSEEN, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`)

/** JSON that says the same, with those characters as escapes. */
export const printableJson = (value: unknown, indent?: number): string =>
  // A line break can only be that of the indentation: within a text it is an escape already.
  JSON.stringify(value, null, indent).replace(UNSEEN, (found) =>
    found === '\n'
      ? found
      : Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
          '',
        ),
  )

/** How many columns of a terminal a text takes. */
export const widthOf = (text: string): number =>
  Array.from(text).reduce((sum, one) => sum + (MARK.test(one) ? 0 : WIDE.test(one) ? 2 : 1), 0)

/** The beginning of a text that fits into so many columns. Marks on letters count here too: a letter can have thousands. */
export function cut(text: string, columns: number): string {
  const characters = Array.from(text)
  if (widthOf(text) <= columns && characters.length <= 2 * columns) return text
  let kept = ''
  let width = 0
  for (const one of characters) {
    width += WIDE.test(one) ? 2 : 1
    if (width > columns - 1) break
    kept += one
  }
  return `${kept}…`
}

const LONGEST_SYMBOL = 16

/** A symbol as it is shown in tables. */
export const shownSymbol = (symbol: string): string => cut(printable(symbol), LONGEST_SYMBOL)

/** Rows as columns. `right` has the columns that are aligned right. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))))
  return rows.map((row) =>
    row
      .map((text, column) => {
        const space = ' '.repeat((widths[column] ?? 0) - widthOf(text))
        return right.includes(column) ? space + text : text + space
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Base units with six decimals as whole tokens: `1,234.5`. */
export function tokens(raw: string): string {
  const digits = raw.replace('-', '').padStart(7, '0')
  const whole = digits.slice(0, -6).replace(/\B(?=(\d{3})+$)/g, ',')
  const rest = digits.slice(-6).replace(/0+$/, '')
  return `${raw.startsWith('-') ? '-' : ''}${whole}${rest && `.${rest}`}`
}

/** A price with its six decimals, `-` without one. */
export const shownPrice = (price: number | null | undefined): string => (price == null ? '-' : price.toFixed(6))

/** How far a price is from 1 in basis points, with the side. */
export function shownDeviation(price: number | null | undefined, spreadBps: number | null | undefined): string {
  if (price == null || spreadBps == null) return '-'
  return `${price < 1 ? '-' : price > 1 ? '+' : ''}${spreadBps.toFixed(2)}`
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** A time in its two largest units: `2h 5m`. */
export function duration(seconds: number): string {
  const first = UNITS.findIndex(([, size]) => seconds >= size)
  if (first < 0) return '0s'
  let left = Math.floor(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.join(' ')
}

/** An instant without a fraction of a second: `2026-07-01T12:00:00Z`. */
export const shownTime = (time: Date | string): string => `${new Date(time).toISOString().slice(0, 19)}Z`

/** The time of a sample, which has a format of its own (`2026-07-01 12:00:00+00`), as every other time. */
export const sampleTime = (sampledAt: string): string => shownTime(sampledAt.replace(' ', 'T').replace(/\+00$/, 'Z'))
