import { existsSync, renameSync } from 'node:fs'
import { logDestination } from '../process/run-process.js'

/** A log is renamed when it has grown to this length: with the one before, it takes twice as much of a disk. */
const LONGEST_BYTES = 2 ** 24

/** The log of a part. What was logged before, by an earlier run too, is kept in a second file. */
export class PartLog {
  readonly #file: string
  readonly #longest: number
  readonly #destination: ReturnType<typeof logDestination>
  #bytes = 0

  constructor(file: string, longestBytes = LONGEST_BYTES) {
    this.#file = file
    this.#longest = longestBytes
    this.#keepEarlier()
    this.#destination = logDestination(file)
  }

  /** Adds a line. Never throws: see logDestination. */
  write(line: string): void {
    if (this.#bytes > this.#longest && this.#keepEarlier()) {
      this.#destination.reopen()
      this.#bytes = 0
    }
    this.#destination.write(`${line}\n`)
    this.#bytes += Buffer.byteLength(line) + 1
  }

  end(): void {
    this.#destination.end()
  }

  #keepEarlier(): boolean {
    try {
      if (existsSync(this.#file)) renameSync(this.#file, `${this.#file}.1`)
      return true
    } catch {
      // The file grows until it can be renamed.
      return false
    }
  }
}
