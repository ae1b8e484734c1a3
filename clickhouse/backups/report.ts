/** Rows of text in columns as wide as their widest; the first to the left, the others to the right. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] as number) : text.padStart(widths[column] as number)
  return rows.map((row) => row.map(cell).join('  ')).join('\n')
}

/** A duration for people. */
export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** A size for people. */
export const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
