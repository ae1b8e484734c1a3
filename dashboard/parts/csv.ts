/** A value of a table; null and undefined are empty. */
type Cell = string | number | null | undefined

const PLAIN = /^[A-Za-z0-9][\w.:-]*$/

/** Quoted unless it is one plain word, and never a formula in a spreadsheet, whatever somebody has called a stable. */
function cellOf(value: Cell): string {
  const text = value === null || value === undefined ? '' : String(value)
  if (typeof value !== 'string' || text === '' || PLAIN.test(text)) return text
  return `"${(/^[\s\p{Z}\p{C}]*[=+@\uff1d\uff0b\uff0d\uff20-]/u.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

/** A table as CSV (RFC 4180), with the names of its columns in the first line. */
export const csvText = (columns: readonly string[], rows: Iterable<readonly Cell[]>): string =>
  [columns, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')

/** Unix seconds as CSV has them: ISO 8601 without milliseconds. */
export const csvTime = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
