import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'

/**
 * A response head that is sent line by line while a query runs, one X-ClickHouse-Progress after the other, so that
 * proxies do not consider the connection idle. Node can only send a complete head, so this writes to the socket
 * directly, and the connection closes after the response.
 */
export class ProgressHead {
  readonly #response: ServerResponse
  #sent: Set<string> | undefined

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get isStarted(): boolean {
    return this.#sent !== undefined
  }

  /** `progress` is one line of JSON. */
  send(progress: string): void {
    if (!this.#sent) {
      this.#sent = new Set()
      this.#socket?.write('HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n')
      this.#sendHeaders()
    }
    this.#socket?.write(`X-ClickHouse-Progress: ${progress}\r\n`)
  }

  /** Completes the head with the headers set since its start, and returns the stream for the body. */
  body(): Writable {
    this.#sendHeaders()
    const socket = this.#socket
    socket?.write('\r\n')
    // Written to the socket itself rather than piped into it: a written chunk has been sent, which an error relies on.
    const chunked = new Writable({
      write(chunk: Buffer, _encoding, done) {
        // An empty chunk would end the body.
        if (!socket || chunk.length === 0) return done()
        socket.write(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]), done)
      },
      final(done) {
        if (socket) socket.write('0\r\n\r\n', done)
        else done()
      },
    })
    this.#response.once('close', () => chunked.destroy())
    chunked.on('error', () => undefined)
    return chunked
  }

  get #socket() {
    const { socket } = this.#response
    return socket?.writable ? socket : undefined
  }

  #sendHeaders(): void {
    for (const [name, value] of Object.entries(this.#response.getHeaders())) {
      if (this.#sent?.has(name)) continue
      this.#sent?.add(name)
      this.#socket?.write(`${name}: ${value}\r\n`)
    }
  }
}
