import type { Progress } from '../engine/progress.js'

/** Inserts rows of progress between the lines of a result, never within a line. The first precedes the result. */
export class ProgressRows {
  #waiting: Buffer | undefined = rowOf(progressJson(nothingYet, 'all'))
  #isAtLineStart = true

  /** The row, if it can be sent now; undefined if it has to wait until the current line ends. */
  add(progress: string): Buffer | undefined {
    const row = rowOf(progress)
    if (!this.#isAtLineStart) {
      this.#waiting = row
      return undefined
    }
    this.#waiting = undefined
    return row
  }

  /** The chunk of the result, with the waiting row inserted where a line begins. */
  insertInto(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    const at = this.#isAtLineStart ? 0 : chunk.indexOf(newline) + 1
    const hasLineStart = this.#isAtLineStart || at > 0
    this.#isAtLineStart = chunk.at(-1) === newline
    if (!hasLineStart || !this.#waiting) return chunk
    const withRow = Buffer.concat([chunk.subarray(0, at), this.#waiting, chunk.subarray(at)])
    this.#waiting = undefined
    return withRow
  }

  /** The row that still waits when the result has ended. */
  rest(): Buffer | undefined {
    return this.#waiting
  }
}

const rowOf = (progress: string) => Buffer.from(`{"progress":${progress}}\n`)
const nothingYet: Progress = {
  read_rows: 0,
  read_bytes: 0,
  written_rows: 0,
  written_bytes: 0,
  total_rows_to_read: 0,
  elapsed_ns: 0,
  peak_memory: 0,
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
