import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { init as initZstd, compress as zstdCompress } from '@bokuweb/zstd-wasm'
import Negotiator from 'negotiator'
import { memoized } from '../../../process/memory.js'

/** In order of preference if the client has none: the smallest first. */
export const CODINGS = ['br', 'zstd', 'gzip'] as const
export type Coding = (typeof CODINGS)[number] | 'identity'

/** The published types lack the second parameter. */
type Choose = (available: readonly string[], options: { preferred: readonly string[] }) => string | undefined

/** Reading a header takes 5 us, half as long as the rest of a kept answer; browsers and libraries send a few dozen short ones. */
const codingOf = memoized<Coding>(
  {
    name: 'codings',
    holds: 'the coding that an Accept-Encoding header prefers',
    maxBytes: 100_000,
    bytesOf: (_, { length }) => length + 1,
  },
  (header) => {
    const negotiator = new Negotiator({ headers: { 'accept-encoding': header } })
    const choose: Choose = negotiator.encoding.bind(negotiator)
    return (choose([...CODINGS, 'identity'], { preferred: CODINGS }) ?? 'identity') as Coding
  },
)

/** The coding that an Accept-Encoding header prefers, by its q-values; identity if it accepts none of ours. */
export const preferredCoding = (acceptEncoding: string | undefined): Coding =>
  acceptEncoding === undefined ? 'identity' : codingOf(acceptEncoding)

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
