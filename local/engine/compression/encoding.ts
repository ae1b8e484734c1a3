import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createDeflate,
  createGunzip,
  createGzip,
  createInflate,
} from 'node:zlib'
import { EngineError, notImplemented } from '../engine/errors.js'
import { isTrue } from '../query/settings.js'
import { ByteReader } from './byte-reader.js'
import { decodeLz4, frameBlock, frameEnd, frameHeader } from './lz4.js'
import { decodeNativeBlocks, nativeBlock } from './native-blocks.js'
import { decodeZstd, zstdFrame } from './zstd.js'

const defaultLevel = 3

const levelBetween = (min: number, max: number, level: number) => Math.min(Math.max(level, min), max)

/** A server's own order of preference. */
const compressors: Record<string, (level: number) => Transform> = {
  zstd: (level) => blocks((data) => zstdFrame(data, level)),
  br: (level) => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: levelBetween(0, 11, level) } }),
  lz4: () => blocks(frameBlock, frameHeader, frameEnd),
  gzip: (level) => createGzip({ level: levelBetween(1, 9, level) }),
  deflate: (level) => createDeflate({ level: levelBetween(1, 9, level) }),
}

/** One step in compressing an answer. Native blocks have no `name`, as no header tells of them. */
export type Encoding = { name?: string; compressor: () => Transform }

/** How an answer is to be compressed, first step first: `compress=1` inside of what Accept-Encoding asks for. */
export function encodingsOf({ headers }: IncomingMessage, url: URLSearchParams): Encoding[] {
  const encodings: Encoding[] = isTrue(url.get('compress')) ? [{ compressor: () => blocks(nativeBlock) }] : []
  const accepted = headers['accept-encoding']
  if (!accepted || !isTrue(url.get('enable_http_compression') ?? '1')) return encodings
  const name = chooseEncoding(String(accepted))
  const compressor = name === undefined ? undefined : compressors[name]
  if (name === undefined || !compressor) return encodings
  const asked = Number(url.get('http_zlib_compression_level') ?? defaultLevel)
  return [...encodings, { name, compressor: () => compressor(Number.isInteger(asked) ? asked : defaultLevel) }]
}

/** The first that a client accepts (RFC 9110, 12.5.3). As on a server, quality values count only where they are 0. */
function chooseEncoding(accepted: string): string | undefined {
  const refused = new Set<string>()
  const wanted = new Set<string>()
  for (const item of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const isRefused = parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter))
    ;(isRefused ? refused : wanted).add(name)
  }
  return Object.keys(compressors).find((known) => !refused.has(known) && (wanted.has(known) || wanted.has('*')))
}

/** What one step of a compressor gets: more would keep this thread from others for too long. */
const blockBytes = 256 * 1024

/** A stream of blocks that are compressed one by one, between a header and an end. */
function blocks(encode: (data: Buffer) => Buffer, first?: Buffer, last?: Buffer): Transform {
  let isStarted = first === undefined
  const start = (stream: Transform) => {
    if (!isStarted) stream.push(first)
    isStarted = true
  }
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      start(this)
      for (let at = 0; at < chunk.length; at += blockBytes) {
        if (at > 0) await nextTurn()
        this.push(encode(chunk.subarray(at, at + blockBytes)))
      }
      done()
    },
    flush(done) {
      start(this)
      done(null, last)
    },
  })
}

type Decoded = AsyncIterable<Buffer>

const zlibDecoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

const frameDecoders: Record<string, (bytes: ByteReader) => Decoded> = { zstd: decodeZstd, lz4: decodeLz4 }

const errorsOf: Record<string, [code: number, name: string]> = {
  zstd: [561, 'ZSTD_DECODER_FAILED'],
  lz4: [618, 'LZ4_DECODER_FAILED'],
  br: [23, 'CANNOT_READ_FROM_ISTREAM'],
}

/**
 * The plain data of a request's body, whose native blocks (`decompress=1`) may be inside of a Content-Encoding. Throws for
 * an unknown encoding, and ClickHouse's errors for broken data.
 */
export function decodedBody(request: IncomingMessage, url: URLSearchParams): Decoded {
  const data = decode(request, request.headers['content-encoding'] ?? '')
  if (!isTrue(url.get('decompress'))) return data
  const isChecked = !isTrue(url.get('http_native_compression_disable_checksumming_on_decompress'))
  return decodeNativeBlocks(new ByteReader(data), isChecked)
}

function decode(body: Readable, encoding: string): Decoded {
  const name = encoding.trim().toLowerCase()
  // The socket must stay usable for the answer when reading stops early.
  const plain = { [Symbol.asyncIterator]: () => body.iterator({ destroyOnReturn: false }) }
  if (name === '' || name === 'identity') return plain
  const frames = frameDecoders[name]
  if (frames) return withErrors(name, frames(new ByteReader(plain)), body)
  const decoder = zlibDecoders[name]?.()
  if (!decoder) throw notImplemented(`Unknown compression method: ${encoding}`)
  // Whoever reads is told. Where nobody does (yet, or any more), it would end the process.
  decoder.on('error', () => undefined)
  // Not a pipeline: that would close the socket when the data turn out to be broken.
  body.once('error', (error) => decoder.destroy(error))
  body.once('aborted', () => decoder.destroy(new Error('aborted')))
  return withErrors(name, body.pipe(decoder), body)
}

async function* withErrors(name: string, data: Decoded, body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* data
  } catch (error) {
    // A sender that went away is not an error of its data.
    if (error instanceof EngineError || (body.destroyed && !body.readableEnded)) throw error
    const [code, codeName] = errorsOf[name] ?? [354, 'ZLIB_INFLATE_FAILED']
    throw EngineError.of(
      code,
      codeName,
      `Cannot decode the request body: ${error instanceof Error ? error.message : error}`,
    )
  }
}
