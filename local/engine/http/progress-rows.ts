import type { Progress } from '../engine/progress.js'

/** Puts rows of progress between the lines of a result, never into one. */
export class ProgressRows {
  #waiting: Buffer | undefined
  #isAtLineStart = true

  /** The row to send at once, or nothing: then it waits for the end of the line that is on its way. */
  add(progress: string): Buffer | undefined {
    const row = Buffer.from(`{"progress":${progress}}\n`)
    if (this.#isAtLineStart) return row
    this.#waiting = row
    return undefined
  }

  /** A chunk of the result with the row that waits behind its first complete line. */
  weave(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    this.#isAtLineStart = chunk.at(-1) === newline
    const at = this.#waiting ? chunk.indexOf(newline) : -1
    if (at < 0 || !this.#waiting) return chunk
    const woven = Buffer.concat([chunk.subarray(0, at + 1), this.#waiting, chunk.subarray(at + 1)])
    this.#waiting = undefined
    return woven
  }
}

const newline = 0x0a

/**
 * Progress as ClickHouse writes it: numbers as strings, in this order. In headers it writes all of them, in rows those
 * that are not zero. How large the result will be is not known while a statement runs.
 */
export function progressJson({ peak_memory, ...seen }: Progress, which: 'all' | 'known'): string {
  const { elapsed_ns, ...counted } = seen
  const numbers = { ...counted, result_rows: 0, result_bytes: 0, elapsed_ns, memory_usage: peak_memory }
  const shown = Object.entries(numbers).filter(([, value]) => which === 'all' || value !== 0)
  return JSON.stringify(Object.fromEntries(shown.map(([name, value]) => [name, String(value)])))
}
