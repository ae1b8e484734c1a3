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
