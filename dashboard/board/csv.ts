import { csvText, csvTime } from '../parts/csv.js'
import { plainText } from '../parts/names.js'
import type { Picture } from './picture.js'

const COLUMNS = ['address', 'symbol', 'from', 'to', 'low_bps', 'high_bps', 'last_bps', 'unquoted_share']

/** The numbers of a picture, a line per stable and bucket; empty where nothing was quoted or measured. */
export function csvOf({ from, step, count, offset, lanes }: Picture): string {
  const times = Array.from({ length: count + 1 }, (_, i) => csvTime(from + i * step))
  const rows = lanes.flatMap(({ stable, series }) => {
    if (!series) return []
    const symbol = plainText(stable.symbol, 60)
    const { low_bps, high_bps, last_bps, unquoted_share } = series
    return Array.from({ length: count }, (_, i) => [
      stable.address,
      symbol,
      times[i],
      times[i + 1],
      ...[low_bps, high_bps, last_bps, unquoted_share].map((column) => column[i - offset]),
    ])
  })
  return csvText(COLUMNS, rows)
}
