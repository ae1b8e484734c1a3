import { EngineError } from '../engine/errors.js'

/** Reads pieces of given sizes from a stream of chunks. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Whether the stream has ended. */
  async isAtEnd(): Promise<boolean> {
    await this.#fill(1)
    return this.#heldBytes === 0
  }

  /** Exactly `size` bytes. Throws if the stream ends before. */
  async take(size: number): Promise<Buffer> {
    await this.#fill(size)
    if (this.#heldBytes < size)
      throw EngineError.of(33, 'CANNOT_READ_ALL_DATA', 'Cannot read all data: the body ends too early')
    const first = this.#held[0]
    const all = this.#held.length === 1 && first ? first : Buffer.concat(this.#held)
    this.#held = all.length > size ? [all.subarray(size)] : []
    this.#heldBytes = all.length - size
    return all.subarray(0, size)
  }

  async #fill(size: number): Promise<void> {
    while (this.#heldBytes < size) {
      const { done, value } = await this.#chunks.next()
      if (done) return
      this.#held.push(value)
      this.#heldBytes += value.length
    }
  }
}
