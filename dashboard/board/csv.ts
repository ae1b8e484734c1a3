import { plainText } from '../parts/names.js'
import type { Picture } from './picture.js'

/** A cell as text: quoted, and never a formula in a spreadsheet, whatever the name of a stable is. */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

/** The numbers of a picture, a line per stable and bucket; empty where nothing was quoted or measured. */
export function csvOf({ from, step, count, offset, lanes }: Picture): string {
  const lines = ['address,symbol,from,to,low_bps,high_bps,last_bps,unquoted_share']
  const times = Array.from(
    { length: count + 1 },
    (_, i) => `${new Date((from + i * step) * 1000).toISOString().slice(0, 19)}Z`,
  )
  for (const { stable, series } of lanes) {
    const symbol = cell(plainText(stable.symbol, 60))
    for (let i = 0; i < count && series; i++) {
      const { low_bps, high_bps, last_bps, unquoted_share } = series
      const values = [low_bps, high_bps, last_bps, unquoted_share].map((column) => number(column[i - offset]))
      lines.push([stable.address, symbol, times[i], times[i + 1], ...values].join(','))
    }
  }
  return `${lines.join('\r\n')}\r\n`
}
