import type { NativeResult } from '../engine/addon.js'
import type { Progress } from '../engine/progress.js'

/** The counts of a statement; fields are named as a server's columns. */
export type Figures = {
  read_rows: number
  read_bytes: number
  written_rows: number
  written_bytes: number
  result_rows: number
  result_bytes: number
}

/**
 * The figures of a statement as far as they are known. `read_*` is exact if the result ends with statistics. Otherwise it
 * is the larger of the last progress and the size of the result, which the engine always reports.
 */
export function figuresOf(
  isInsert: boolean,
  result: Pick<NativeResult, 'rowsRead' | 'bytesRead'> | undefined,
  progress: Progress | undefined,
  tail: string,
): Figures {
  const [rows, bytes] = [result?.rowsRead ?? 0, result?.bytesRead ?? 0]
  const read = statisticsIn(tail) ?? {
    read_rows: Math.max(rows, progress?.read_rows ?? 0),
    read_bytes: Math.max(bytes, progress?.read_bytes ?? 0),
  }
  return {
    ...read,
    written_rows: isInsert ? rows : (progress?.written_rows ?? 0),
    written_bytes: isInsert ? bytes : (progress?.written_bytes ?? 0),
    result_rows: rows,
    result_bytes: bytes,
  }
}

const atTheEnd = [
  /"rows_read":\s*(\d+),\s*"bytes_read":\s*(\d+)\s*\}\s*\}\s*$/,
  /\{"progress":\{"read_rows":"(\d+)","read_bytes":"(\d+)"[^{}]*\}\}\s*$/,
]

/** The statistics at the end of a result in a JSON format. `tail` is empty for other formats. */
function statisticsIn(tail: string): Pick<Figures, 'read_rows' | 'read_bytes'> | undefined {
  if (tail === '') return undefined
  for (const pattern of atTheEnd) {
    const [, rows, bytes] = pattern.exec(tail) ?? []
    if (rows !== undefined) return { read_rows: Number(rows), read_bytes: Number(bytes) }
  }
  return undefined
}

/** The value of the header X-ClickHouse-Summary. */
export function summaryOf(figures: Figures, progress: Progress | undefined, elapsed_ns: bigint): string {
  const { read_rows, read_bytes, written_rows, written_bytes, result_rows, result_bytes } = figures
  const total_rows_to_read = Math.max(progress?.total_rows_to_read ?? 0, read_rows)
  const numbers = {
    read_rows,
    read_bytes,
    written_rows,
    written_bytes,
    total_rows_to_read,
    result_rows,
    result_bytes,
    elapsed_ns,
    memory_usage: progress?.peak_memory ?? 0,
  }
  return JSON.stringify(Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)])))
}
