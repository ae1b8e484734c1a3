import { csvText, csvTime } from '../parts/csv.js'
import { plainText } from '../parts/names.js'
import type { Picture } from './picture.js'
import type { SeriesOfStable } from './series.js'

const COLUMNS = ['address', 'symbol', 'from', 'to', 'low_bps', 'high_bps', 'last_bps', 'unquoted_share']

/** Buckets, and how many of them come before the first one of the series. */
type Buckets = Pick<Picture, 'from' | 'step' | 'count' | 'offset'>
type Named = { address: string; symbol: string; series: SeriesOfStable | null }

/** The numbers of series, a line per stable and bucket; empty where nothing was quoted or measured. */
export function seriesCsv({ from, step, count, offset }: Buckets, stables: readonly Named[]): string {
  const times = Array.from({ length: count + 1 }, (_, i) => csvTime(from + i * step))
  const rows = stables.flatMap(({ address, symbol, series }) => {
    if (!series) return []
    const name = plainText(symbol, 60)
    const { low_bps, high_bps, last_bps, unquoted_share } = series
    return Array.from({ length: count }, (_, i) => [
      address,
      name,
      times[i],
      times[i + 1],
      ...[low_bps, high_bps, last_bps, unquoted_share].map((column) => column[i - offset]),
    ])
  })
  return csvText(COLUMNS, rows)
}
