import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import pLimit from 'p-limit'
import type { Memories } from '../../process/memory.js'
import { askerOf } from '../callers/limits/plugin.js'
import { RangeNotSatisfiableError } from '../http/errors.js'
import { digestOf, etagOf } from './cache/answer.js'

/** The largest export that is held whole: the default 100,000 rows of the widest, flows as CSV, have some 40 MB. */
const MOST_BYTES = 64 * 2 ** 20

/** Readers of Parquet ask for its end first, then, within seconds, for the columns that it names. */
const KEPT_MS = 60_000

/** A whole export is made at most that long. It ends even if its caller leaves: others may wait for it. */
const MAKING_MS = 60_000

/** The header fields of an export, and its body as it is being made. */
export type OpenExport = { headers: Record<string, string>; body: Readable }

/** The body is null if it is too large to be held. */
type WholeExport = { headers: Record<string, string>; body: Buffer | null; etag: string }

/** All bytes of a stream; null, and the stream is destroyed, if they are more than `most`. */
async function bytesOf(stream: Readable, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes: Buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    chunks.push(bytes)
    size += bytes.length
    if (size > most) return null
  }
  return Buffer.concat(chunks)
}

export type WholeExports = {
  /** Whether a request will be answered from memory. */
  has: (request: FastifyRequest) => boolean
  /** The export of a URL for a caller, made once for all concurrent requests. Rejects with the error of `open`. */
  read: (request: FastifyRequest, open: () => Promise<OpenExport>) => Promise<WholeExport>
}

/** Exports of up to `maxBytes`, of which callers ask for the length or for a range of bytes. */
export function createWholeExports(memories: Memories, maxBytes: number, mostBytes = MOST_BYTES): WholeExports {
  const exports = memories.entries<string, WholeExport>({
    name: 'exports',
    holds: 'whole exports and series, by URL and caller, for ranges of bytes',
    until: 'a minute after it was made',
    maxBytes,
    bytesOf: ({ body }, key) => (body?.length ?? 0) + key.length + 4096,
    ttlMs: KEPT_MS,
  })
  // Each takes twice its size in memory while it is made.
  const making = pLimit(1)
  const keyOf = ({ caller, ip, raw }: FastifyRequest): string => `${askerOf(caller, ip)} ${raw.url}`
  return {
    has: (request) => {
      const whole = needsWhole(request) ? exports.peek(keyOf(request)) : undefined
      return whole !== undefined && (whole.body !== null || request.method === 'HEAD')
    },
    read: (request, open) =>
      exports.read(keyOf(request), () =>
        making(async () => {
          request.sharedSignal = AbortSignal.timeout(MAKING_MS)
          const { headers, body: stream } = await open()
          const body = await bytesOf(stream, mostBytes)
          return { headers, body, etag: body ? etagOf(digestOf(body), 'identity') : '' }
        }),
      ),
  }
}

/** Whether a request needs the whole export before the first byte is sent. */
export const needsWhole = ({ method, headers }: FastifyRequest): boolean =>
  method === 'HEAD' || headers.range !== undefined

/**
 * The one range of bytes that a `Range` asks for, both ends included (RFC 9110, 14.1.2). It is empty, with the end before the
 * start, if none of these bytes exists; null if the header is malformed, has several ranges or another unit, and is to be
 * ignored.
 */
function byteRangeOf(range: string, size: number): { start: number; end: number } | null {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range) ?? []
  if (first === '') return last === '' ? null : { start: Math.max(size - Number(last), 0), end: size - 1 }
  if (last !== '' && Number(last) < Number(first)) return null
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

/** Sends a whole export, or of it the range of bytes that the request asks for. Throws RangeNotSatisfiableError. */
export function sendWhole(
  { method, headers: { range, 'if-range': ifRange } }: FastifyRequest,
  reply: FastifyReply,
  { headers, body, etag }: WholeExport & { body: Buffer },
): FastifyReply {
  const isForRange = method === 'GET' && range !== undefined && (ifRange === undefined || ifRange === etag)
  // Of nothing, every range would be refused, also by programs that always send one.
  const byteRange = isForRange && body.length > 0 ? byteRangeOf(range, body.length) : null
  if (byteRange && byteRange.start > byteRange.end) throw new RangeNotSatisfiableError(body.length)
  reply.headers({ ...headers, etag, 'accept-ranges': 'bytes' })
  if (!byteRange) return reply.send(body)
  const { start, end } = byteRange
  return reply
    .code(206)
    .header('content-range', `bytes ${start}-${end}/${body.length}`)
    .send(body.subarray(start, end + 1))
}
