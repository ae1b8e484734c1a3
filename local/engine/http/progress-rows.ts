import type { Progress } from '../engine/progress.js'

/** Inserts rows of progress between the lines of a result, never within a line. */
export class ProgressRows {
  #waiting: Buffer | undefined
  #isAtLineStart = true

  /** The row, if it can be sent now; undefined if it has to wait until the current line ends. */
  add(progress: string): Buffer | undefined {
    const row = Buffer.from(`{"progress":${progress}}\n`)
    if (this.#isAtLineStart) return row
    this.#waiting = row
    return undefined
  }

  /** The chunk of the result, with the waiting row inserted after its first complete line. */
  insertInto(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    this.#isAtLineStart = chunk.at(-1) === newline
    const at = this.#waiting ? chunk.indexOf(newline) : -1
    if (at < 0 || !this.#waiting) return chunk
    const withRow = Buffer.concat([chunk.subarray(0, at + 1), this.#waiting, chunk.subarray(at + 1)])
    this.#waiting = undefined
    return withRow
  }
}

const newline = 0x0a

/**
 * Progress in ClickHouse's format: numbers as strings, in this order. `all` is for headers; `known`, for rows, omits
 * zeros. The size of the result is 0, as it is unknown while a statement runs.
 */
export function progressJson({ peak_memory, ...seen }: Progress, which: 'all' | 'known'): string {
  const { elapsed_ns, ...counted } = seen
  const numbers = { ...counted, result_rows: 0, result_bytes: 0, elapsed_ns, memory_usage: peak_memory }
  const shown = Object.entries(numbers).filter(([, value]) => which === 'all' || value !== 0)
  return JSON.stringify(Object.fromEntries(shown.map(([name, value]) => [name, String(value)])))
}
