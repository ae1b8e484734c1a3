import type { IncomingMessage } from 'node:http'
import { decodedBody } from '../compression/encoding.js'
import { EngineError } from '../engine/errors.js'

/** The decoded body of a request. It is read chunk by chunk, so that a slow reader slows the client down. */
export class Body {
  readonly #request: IncomingMessage
  readonly #timeoutMs: number
  readonly #chunks: AsyncIterator<Buffer>
  #stopReason: EngineError | undefined
  #stop: ((reason: EngineError) => void) | undefined

  /** Throws for an unknown encoding. */
  constructor(request: IncomingMessage, url: URLSearchParams, timeoutMs: number) {
    this.#request = request
    this.#timeoutMs = timeoutMs
    this.#chunks = decodedBody(request, url)[Symbol.asyncIterator]()
  }

  /** The next chunk, or undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    if (this.#stopReason) throw this.#stopReason
    let timer: NodeJS.Timeout | undefined
    const stopped = new Promise<never>((_, reject) => {
      this.#stop = reject
      const text = `Timeout exceeded while reading from socket (${this.#timeoutMs} ms)`
      timer = setTimeout(() => reject(EngineError.of(209, 'SOCKET_TIMEOUT', text)), this.#timeoutMs)
    })
    try {
      const { done, value } = await Promise.race([this.#chunks.next(), stopped])
      return done ? undefined : value
    } catch (error) {
      if (error instanceof EngineError) throw error
      const text = error instanceof Error ? error.message : String(error)
      throw EngineError.of(23, 'CANNOT_READ_FROM_ISTREAM', `Cannot read the request body: ${text}`)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Reads until the end or until there are more than `limit` bytes. */
  async readUpTo(limit: number): Promise<{ chunks: Buffer[]; isComplete: boolean }> {
    const chunks: Buffer[] = []
    for (let size = 0; size <= limit; ) {
      const chunk = await this.read()
      if (!chunk) return { chunks, isComplete: true }
      chunks.push(chunk)
      size += chunk.length
    }
    return { chunks, isComplete: false }
  }

  /** Makes the pending read and every later one throw `reason`. */
  stop(reason: EngineError): void {
    this.#stopReason = reason
    this.#stop?.(reason)
  }

  /** Discards the rest of the body, so that a client that sends all of it first can read its response. */
  discard(): void {
    if (this.#request.readableEnded || this.#request.destroyed) return
    void this.#chunks.return?.()
    this.#request.unpipe()
    this.#request.resume()
  }
}
