import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'

/** An interim response other than 101, which changes the protocol. */
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d/
const STATUS_LENGTH = 'HTTP/1.1 100'.length
const HEAD_END = '\r\n\r\n'
/** Longer heads are left to undici, which refuses them. */
const MAX_HEAD_BYTES = 16_384
const NOTHING = Buffer.alloc(0)

/** Whether bytes begin with an interim response, or may when there are more of them. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, STATUS_LENGTH)
  return start.length < STATUS_LENGTH ? 'HTTP/1.1 1'.startsWith(start.slice(0, 10)) : INTERIM.test(start)
}

/** The bytes after every complete interim response at their start. */
function afterInterim(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.length >= STATUS_LENGTH && mayBeInterim(rest)) {
    const end = rest.subarray(0, MAX_HEAD_BYTES).indexOf(HEAD_END)
    if (end === -1) break
    rest = rest.subarray(end + HEAD_END.length)
  }
  return rest
}

/**
 * A connection whose reader does not get interim responses before a response. undici ends the connection at a `100 Continue` that
 * it did not ask for, although a receiver or a proxy before it may send interim responses at any time (RFC 9110, 15.2). One request
 * at a time: what is read first after something was written is the start of a response.
 */
export function withoutInterim(socket: Socket): Socket {
  const { read, write } = socket
  /** The start of a response, as long as it may be an interim response; null after that. */
  let start: Buffer | null = null
  socket.write = ((...given: Parameters<typeof write>) => {
    start ??= NOTHING
    return write.apply(socket, given)
  }) as typeof write
  socket.read = (size) => {
    for (;;) {
      const chunk: Buffer | null = read.call(socket, size)
      if (start === null || chunk === null) return chunk
      const bytes = afterInterim(start.length === 0 ? chunk : Buffer.concat([start, chunk]))
      start = mayBeInterim(bytes) && bytes.length < MAX_HEAD_BYTES ? bytes : null
      if (start === null) return bytes
    }
  }
  return socket
}
