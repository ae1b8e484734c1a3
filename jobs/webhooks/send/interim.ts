import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'

const CONTINUE = 'HTTP/1.1 100'
const HEAD_END = '\r\n\r\n'
/** Longer heads are left to undici, which refuses them. */
const MAX_HEAD_BYTES = 16_384
const NOTHING = Buffer.alloc(0)

/** Whether bytes are the start of a `100 Continue`, or may be when there are more of them. */
const mayBeContinue = (bytes: Buffer): boolean =>
  CONTINUE.startsWith(bytes.toString('latin1', 0, CONTINUE.length)) && bytes.length < MAX_HEAD_BYTES

/** The bytes after every complete `100 Continue` at their start. */
function afterContinue(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.length >= CONTINUE.length && mayBeContinue(rest)) {
    const end = rest.indexOf(HEAD_END)
    if (end === -1) break
    rest = rest.subarray(end + HEAD_END.length)
  }
  return rest
}

/**
 * A connection whose reader does not get any `100 Continue` before a response. undici ends the connection at one that it did not ask
 * for, although a receiver or a proxy before it may send interim responses at any time (RFC 9110, 15.2); it skips others itself. One
 * request at a time: what is read first after something was written is the start of a response.
 */
export function withoutContinue(socket: Socket): Socket {
  const { read, write } = socket
  /** The start of a response, as long as it may be a `100 Continue`; null after that. */
  let start: Buffer | null = null
  socket.write = ((...given: Parameters<typeof write>) => {
    start ??= NOTHING
    return write.apply(socket, given)
  }) as typeof write
  socket.read = (size) => {
    for (;;) {
      const chunk: Buffer | null = read.call(socket, size)
      if (start === null || chunk === null) return chunk
      const bytes = afterContinue(start.length === 0 ? chunk : Buffer.concat([start, chunk]))
      start = mayBeContinue(bytes) ? bytes : null
      if (start === null) return bytes
    }
  }
  return socket
}
