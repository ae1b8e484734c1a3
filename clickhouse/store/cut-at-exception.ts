import { Transform } from 'node:stream'
import { QueryError } from './query-error.js'

/**
 * Passes a result on and fails where the engine went wrong half-way. It then ends the body with `__exception__`, the
 * tag of its header X-ClickHouse-Exception-Tag and its message, which is not for those who get the rows.
 */
export function cutAtException(query: string, tag: string): Transform {
  const marker = Buffer.from(`__exception__\r\n${tag}\r\n`)
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const data = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const at = data.indexOf(marker)
      if (at >= 0) {
        done(new QueryError(query, new Error(data.subarray(at + marker.length).toString())))
        return
      }
      // The marker may begin in this chunk and go on in the next.
      const safe = Math.max(0, data.length - marker.length + 1)
      held = data.subarray(safe)
      done(null, data.subarray(0, safe))
    },
    flush(done) {
      done(null, held)
    },
  })
}
