import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createDeflate, createGzip, deflate, gzip } from 'node:zlib'
import { type EngineError, httpStatus } from '../engine/errors.js'

export type Encoding = 'gzip' | 'deflate' | 'br'

/** The encoding a client accepts, unless it switches the setting off that is on by default. */
export function replyEncoding(request: IncomingMessage, url: URLSearchParams): Encoding | undefined {
  const isOn = url.get('enable_http_compression') ?? '1'
  if (isOn !== '1' && isOn !== 'true') return undefined
  const accepted = String(request.headers['accept-encoding'] ?? '')
  return (['br', 'gzip', 'deflate'] as const).find((encoding) => accepted.includes(encoding))
}

const level = 3
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: level } }
const compressors = {
  gzip: { whole: (data: Buffer) => promisify(gzip)(data, { level }), stream: () => createGzip({ level }) },
  deflate: { whole: (data: Buffer) => promisify(deflate)(data, { level }), stream: () => createDeflate({ level }) },
  br: { whole: (data: Buffer) => promisify(brotliCompress)(data, brotli), stream: () => createBrotliCompress(brotli) },
} satisfies Record<Encoding, { whole: (data: Buffer) => Promise<Buffer>; stream: () => Transform }>

/**
 * The answer to one request. Holds the first bytes back, so that an early error still gets its status code and a small
 * result a single write. Past `holdBytes` it streams, and an error goes into the body, as a server does since 25.11.
 */
export class Reply {
  readonly #response: ServerResponse
  readonly #encoding: Encoding | undefined
  readonly #holdBytes: number
  readonly #timeoutMs: number
  readonly #tag = Array.from(randomBytes(16), (byte) => String.fromCharCode(97 + (byte % 26))).join('')
  #held: Buffer[] = []
  #heldBytes = 0
  #stream: Transform | ServerResponse | undefined

  constructor(
    response: ServerResponse,
    options: { encoding: Encoding | undefined; holdBytes: number; timeoutMs: number },
  ) {
    this.#response = response
    this.#encoding = options.encoding
    this.#holdBytes = options.holdBytes
    this.#timeoutMs = options.timeoutMs
    response.setHeader('X-ClickHouse-Exception-Tag', this.#tag)
  }

  /** Whether the client has seen anything, or will. */
  get hasBytes(): boolean {
    return this.#stream !== undefined || this.#heldBytes > 0
  }

  header(name: string, value: string): void {
    if (!this.#response.headersSent) this.#response.setHeader(name, value)
  }

  /** Resolves when more may be written; at once when nobody listens any more. */
  async write(chunk: Buffer): Promise<void> {
    if (this.#response.closed || this.#response.destroyed) return
    if (!this.#stream) {
      this.#held.push(chunk)
      this.#heldBytes += chunk.length
      if (this.#heldBytes <= this.#holdBytes) return
      const held = Buffer.concat(this.#held)
      this.#held = []
      this.#stream = this.#start()
      await this.#send(this.#stream, held)
      return
    }
    await this.#send(this.#stream, chunk)
  }

  async end(): Promise<void> {
    if (this.#stream) {
      this.#stream.end()
      return
    }
    await this.#sendWhole(200, Buffer.concat(this.#held))
  }

  /** Tells the client what went wrong: by status while nothing is sent, else at the end of a body that is cut off. */
  async fail(error: EngineError, version: string): Promise<void> {
    const text = `${error.message} (version ${version})\n`
    if (!this.#stream) {
      this.#held = []
      this.header('X-ClickHouse-Exception-Code', String(error.code))
      this.header('Content-Type', 'text/plain; charset=UTF-8')
      await this.#sendWhole(httpStatus(error.code), Buffer.from(text))
      return
    }
    const marker = '__exception__'
    const block = `\r\n${marker}\r\n${this.#tag}\r\n${text}${Buffer.byteLength(text)} ${this.#tag}\r\n${marker}\r\n`
    const stream = this.#stream
    if (stream !== this.#response) {
      stream.end(block)
      await new Promise((resolve) => {
        stream.once('end', resolve)
        this.#response.once('close', resolve)
        if (this.#response.destroyed) resolve(undefined)
      })
    } else {
      await new Promise((resolve) => stream.write(block, resolve))
    }
    // Without the last chunk, so that a client that does not know the marker does not take the body for complete.
    this.#response.socket?.destroySoon()
  }

  async #sendWhole(status: number, body: Buffer): Promise<void> {
    const response = this.#response
    if (response.destroyed) return
    let data = body
    if (this.#encoding && body.length > 0) {
      data = await compressors[this.#encoding].whole(body)
      response.setHeader('Content-Encoding', this.#encoding)
    }
    response.writeHead(status, { 'Content-Length': data.length })
    response.end(data)
  }

  #start(): Transform | ServerResponse {
    const response = this.#response
    if (!this.#encoding) {
      response.writeHead(200)
      return response
    }
    response.writeHead(200, { 'Content-Encoding': this.#encoding })
    const stream = compressors[this.#encoding].stream()
    stream.pipe(response, { end: true })
    return stream
  }

  async #send(stream: Transform | ServerResponse, chunk: Buffer): Promise<void> {
    if (stream.write(chunk)) return
    const response = this.#response
    if (response.destroyed) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        stream.off('drain', done)
        response.off('close', done)
        resolve()
      }
      // A reader that stands still must not hold a query forever.
      const timer = setTimeout(() => response.destroy(), this.#timeoutMs)
      stream.once('drain', done)
      response.once('close', done)
    })
  }
}
