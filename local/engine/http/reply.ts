import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transform, Writable } from 'node:stream'
import { type Encoding, encodingsOf } from '../compression/encoding.js'
import { type EngineError, httpStatus } from '../engine/errors.js'
import type { Progress } from '../engine/progress.js'
import { isTrue } from '../query/settings.js'
import { ProgressHead } from './progress-head.js'
import { ProgressRows, progressJson } from './progress-rows.js'

/** How many bytes of a response are held back before its status is sent, as on a server. */
const holdBytes = 1024 * 1024
/** How many bytes are held back with wait_end_of_query. A server buffers these on disk. */
const holdAllBytes = 64 * 1024 * 1024

/** More than the length of the statistics at the end of a result. */
const tailBytes = 400

type Options = {
  encodings: readonly Encoding[]
  holdBytes: number
  timeoutMs: number
  progressIntervalMs: number | undefined
  /** Whether the whole result has to be complete before any of it is sent. */
  waits: boolean
}

/**
 * The response to one request. Holds the first bytes back, so that an early error still gets its status code and a small
 * result a single write. After `holdBytes` it streams, and an error goes into the body, as on a server since 25.11.
 */
export class Reply {
  readonly #response: ServerResponse
  readonly #options: Options
  readonly #head: ProgressHead
  #rows: ProgressRows | undefined
  #progressAt = 0
  #keepsTail = false
  #release: (() => void) | undefined
  #tail: Buffer = Buffer.alloc(0)
  readonly #tag = Array.from(randomBytes(16), (byte) => String.fromCharCode(97 + (byte % 26))).join('')
  #held: Buffer[] = []
  #heldBytes = 0
  #stream: Writable | undefined
  /** The last compressor before the response, if there is any. */
  #lastCompressor: Transform | undefined

  constructor(response: ServerResponse, options: Options) {
    this.#response = response
    this.#options = options
    this.#head = new ProgressHead(response)
    response.setHeader('X-ClickHouse-Exception-Tag', this.#tag)
  }

  /** A reply with the options in the URL parameters and headers of the request. Throws EngineError for invalid ones. */
  static to(request: IncomingMessage, response: ServerResponse, url: URLSearchParams): Reply {
    const isHeadOnly = request.method === 'HEAD'
    const interval = Number(url.get('http_headers_progress_interval_ms') ?? 100) || 100
    return new Reply(response, {
      encodings: encodingsOf(request, url),
      holdBytes: bytesToHold(url),
      waits: waitsForEnd(url),
      timeoutMs: (Number(url.get('http_send_timeout')) || 30) * 1000,
      progressIntervalMs: isTrue(url.get('send_progress_in_http_headers')) && !isHeadOnly ? interval : undefined,
    })
  }

  /** Whether any of the result was sent or is held back. */
  get hasBytes(): boolean {
    return this.#stream !== undefined || this.#heldBytes > 0
  }

  header(name: string, value: string): void {
    if (!this.#response.headersSent) this.#response.setHeader(name, value)
  }

  /** From now on, keeps the last bytes of the result. */
  keepTail(): void {
    this.#keepsTail = true
  }

  /** The last bytes of the result; empty if they were not kept. */
  get tail(): string {
    return this.#tail.toString()
  }

  /** From now on, sends progress as lines between those of the result, which are JSON. */
  sendProgressInRows(): void {
    this.#rows = new ProgressRows()
  }

  /** Sends progress to the client if it was requested and can be sent now. */
  progress(progress: Progress): void {
    const { progressIntervalMs, waits } = this.#options
    if (this.#response.destroyed || (!this.#rows && progressIntervalMs === undefined)) return
    const now = performance.now()
    if (now - this.#progressAt < (progressIntervalMs ?? 0)) return
    this.#progressAt = now
    if (this.#rows) {
      const row = this.#rows.add(progressJson(progress, 'known'))
      if (row && waits && !this.#stream) this.#hold(row)
      else if (row && !this.#stream?.writableNeedDrain) this.#streaming().write(row)
    } else if (!this.#stream) this.#head.send(progressJson(progress, 'all'))
  }

  /** Resolves when more may be written; at once if the client has disconnected. */
  async write(chunk: Buffer): Promise<void> {
    if (this.#response.closed || this.#response.destroyed) return
    const data = this.#rows?.insertInto(chunk) ?? chunk
    if (this.#keepsTail) this.#keep(data)
    if (!this.#stream) {
      this.#hold(data)
      if (this.#heldBytes <= this.#options.holdBytes) return
    }
    const held = this.#stream ? data : Buffer.alloc(0)
    await this.#send(this.#streaming(), held)
  }

  #hold(data: Buffer): void {
    this.#held.push(data)
    this.#heldBytes += data.length
  }

  #keep(data: Buffer): void {
    const last = data.length >= tailBytes ? data : Buffer.concat([this.#tail, data])
    // A copy: a slice would keep the whole chunk in memory.
    this.#tail = Buffer.from(last.subarray(-tailBytes))
  }

  /** Stops a write from waiting for a slow client. What was written is still sent if the client reads on. */
  release(): void {
    this.#release?.()
  }

  async end(): Promise<void> {
    const rest = this.#rows?.rest()
    if (rest && this.#stream) this.#stream.write(rest)
    else if (rest) this.#hold(rest)
    if (this.#stream || this.#head.isStarted) this.#streaming().end()
    else await this.#sendWhole(200, Buffer.concat(this.#held))
  }

  /** Sends an error: with its status if nothing was sent yet, otherwise at the end of a truncated body. */
  async fail(error: EngineError, version: string): Promise<void> {
    const text = `${error.message} (version ${version})\n`
    const hasBody = this.#stream !== undefined
    const isUnsent = !hasBody && !this.#head.isStarted
    if (!hasBody) {
      this.#held = []
      this.header('X-ClickHouse-Exception-Code', String(error.code))
      this.header('Content-Type', 'text/plain; charset=UTF-8')
    }
    if (isUnsent) {
      await this.#sendWhole(httpStatus(error.code), Buffer.from(text))
      return
    }
    // A client that does not read the error either is disconnected.
    const timer = setTimeout(() => this.#response.destroy(), this.#options.timeoutMs).unref()
    this.#response.once('close', () => clearTimeout(timer))
    const marker = '__exception__'
    const block = `\r\n${marker}\r\n${this.#tag}\r\n${text}${Buffer.byteLength(text)} ${this.#tag}\r\n${marker}\r\n`
    const stream = this.#streaming()
    if (!hasBody) {
      // The head has the code, so that every client sees the error in a complete response.
      stream.end(block)
      return
    }
    const last = this.#lastCompressor
    if (last) {
      stream.end(block)
      await new Promise((resolve) => {
        last.once('end', resolve)
        this.#response.once('close', resolve)
        if (this.#response.destroyed) resolve(undefined)
      })
    } else {
      await new Promise((resolve) => stream.write(block, resolve))
    }
    // The last chunk is left out, so that a client that does not know the marker sees that the body is incomplete.
    this.#response.socket?.destroySoon()
  }

  async #sendWhole(status: number, body: Buffer): Promise<void> {
    const response = this.#response
    if (response.destroyed) return
    let data = body
    for (const { name, compressor } of body.length > 0 ? this.#options.encodings : []) {
      const stream = compressor()
      stream.end(data)
      data = Buffer.concat(await stream.toArray())
      if (name !== undefined) response.setHeader('Content-Encoding', name)
    }
    response.writeHead(status, { 'Content-Length': data.length })
    response.end(data)
  }

  /** Starts streaming if needed: sends the head and what was held back. Returns the stream for the rest of the body. */
  #streaming(): Writable {
    if (this.#stream) return this.#stream
    const { encodings } = this.#options
    for (const { name } of encodings) if (name !== undefined) this.header('Content-Encoding', name)
    let body: Writable = this.#response
    if (this.#head.isStarted) body = this.#head.body()
    else this.#response.writeHead(200)
    for (const encoding of encodings.toReversed()) {
      const compressor = encoding.compressor()
      compressor.pipe(body)
      body = compressor
      this.#lastCompressor ??= compressor
    }
    this.#stream = body
    if (this.#held.length > 0) this.#stream.write(Buffer.concat(this.#held))
    this.#held = []
    return this.#stream
  }

  async #send(stream: Writable, chunk: Buffer): Promise<void> {
    const isReady = chunk.length > 0 ? stream.write(chunk) : !stream.writableNeedDrain
    if (isReady) return
    const response = this.#response
    if (response.destroyed) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        stream.off('drain', done)
        response.off('close', done)
        this.#release = undefined
        resolve()
      }
      this.#release = done
      // A client that stops reading must not block a query forever.
      const timer = setTimeout(() => response.destroy(), this.#options.timeoutMs)
      stream.once('drain', done)
      response.once('close', done)
    })
  }
}

const waitsForEnd = (url: URLSearchParams) => isTrue(url.get('http_wait_end_of_query') ?? url.get('wait_end_of_query'))

function bytesToHold(url: URLSearchParams): number {
  if (waitsForEnd(url)) return holdAllBytes
  const wanted = Number(url.get('http_response_buffer_size') ?? url.get('buffer_size'))
  return Math.min(Math.max(wanted || 0, holdBytes), holdAllBytes)
}
