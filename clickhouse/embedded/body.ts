import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { EngineError, notImplemented } from './errors.js'

/** The decoded body of a request, read chunk by chunk so that a slow consumer slows the sender. */
export class Body {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #timeoutMs: number

  constructor(request: IncomingMessage, timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    // The socket must stay usable for the answer when reading stops early.
    this.#chunks = decoded(request).iterator({ destroyOnReturn: false })
  }

  /** The next chunk, undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const text = `Timeout exceeded while reading from socket (${this.#timeoutMs} ms)`
      timer = setTimeout(() => reject(EngineError.of(209, 'SOCKET_TIMEOUT', text)), this.#timeoutMs)
    })
    try {
      const { done, value } = await Promise.race([this.#chunks.next(), late])
      return done ? undefined : value
    } catch (error) {
      if (error instanceof EngineError) throw error
      const text = error instanceof Error ? error.message : String(error)
      throw EngineError.of(23, 'CANNOT_READ_FROM_ISTREAM', `Cannot read the request body: ${text}`)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Reads until more than `limit` bytes are there, or all. */
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
}

function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity' || encoding === '') return request
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined
  if (!decoder) throw notImplemented(`Content-Encoding ${encoding} is not supported`)
  // An error shows where the chunks are read.
  return pipeline(request, decoder, () => undefined)
}
