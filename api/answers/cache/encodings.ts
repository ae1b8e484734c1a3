import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { init as initZstd, compress as zstdCompress } from '@bokuweb/zstd-wasm'
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

/** In order of preference if the client has none: the smallest first. */
export const CODINGS = ['br', 'zstd', 'gzip'] as const
export type Coding = (typeof CODINGS)[number] | 'identity'

/**
 * Accept-Encoding headers are cached up to this many characters; browsers and libraries send a few dozen short ones.
 */
const REMEMBERED = 100_000
const remembered = new LRUCache<string, Coding>({
  maxSize: REMEMBERED,
  sizeCalculation: (_, header) => header.length + 1,
})

/** The published types lack the second parameter. */
type Choose = (available: readonly string[], options: { preferred: readonly string[] }) => string | undefined

/** The coding that an Accept-Encoding header prefers, by its q-values; identity if it accepts none of ours. */
export function preferredCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity'
  const before = remembered.get(acceptEncoding)
  if (before !== undefined) return before
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const choose: Choose = negotiator.encoding.bind(negotiator)
  const coding = (choose([...CODINGS, 'identity'], { preferred: CODINGS }) ?? 'identity') as Coding
  remembered.set(acceptEncoding, coding)
  return coding
}

/** Medium levels: a body is compressed once for many answers, but lives only for seconds. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
const ZSTD_LEVEL = 6

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)
// Node has no zstd before version 22.15.
await initZstd()

/** `body` in a coding. */
export async function encode(body: Buffer, coding: Exclude<Coding, 'identity'>): Promise<Buffer> {
  if (coding === 'br') return brotli(body, BROTLI)
  if (coding === 'gzip') return deflate(body)
  const frame = zstdCompress(body, ZSTD_LEVEL)
  return Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)
}
