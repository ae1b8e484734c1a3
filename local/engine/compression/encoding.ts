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

/** In a ClickHouse server's order of preference. */
const compressors: Record<string, (level: number) => Transform> = {
  zstd: (level) => blocks((data) => zstdFrame(data, level)),
  br: (level) => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: levelBetween(0, 11, level) } }),
  lz4: () => blocks(frameBlock, frameHeader, frameEnd),
  gzip: (level) => createGzip({ level: levelBetween(1, 9, level) }),
  deflate: (level) => createDeflate({ level: levelBetween(1, 9, level) }),
}

/** One step in compressing a response. Native blocks have no `name`, as no header announces them. */
export type Encoding = { name?: string; compressor: () => Transform }

/** How to compress a response, in order: first native blocks (`compress=1`), then what Accept-Encoding requests. */
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

/**
 * The first encoding that a client accepts (RFC 9110, 12.5.3). As on a server, quality values only matter if they are
 * 0.
 */
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

/** Input of one step of a compressor: more would block this thread for too long. */
const blockBytes = 256 * 1024

/** A stream that compresses block by block, between an optional header and an optional end. */
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
 * The decoded body of a request: first its Content-Encoding is undone, then its native blocks (`decompress=1`). Throws
 * ClickHouse's errors for an unknown encoding and for corrupt data.
 */
export function decodedBody(request: IncomingMessage, url: URLSearchParams): Decoded {
  const data = decode(request, request.headers['content-encoding'] ?? '')
  if (!isTrue(url.get('decompress'))) return data
  const isChecked = !isTrue(url.get('http_native_compression_disable_checksumming_on_decompress'))
  return decodeNativeBlocks(new ByteReader(data), isChecked)
}

function decode(body: Readable, encoding: string): Decoded {
  const name = encoding.trim().toLowerCase()
  // The socket has to stay open for the response when reading stops early.
  const plain = { [Symbol.asyncIterator]: () => body.iterator({ destroyOnReturn: false }) }
  if (name === '' || name === 'identity') return plain
  const frames = frameDecoders[name]
  if (frames) return withErrors(name, frames(new ByteReader(plain)), body)
  const decoder = zlibDecoders[name]?.()
  if (!decoder) throw notImplemented(`Unknown compression method: ${encoding}`)
  // Readers receive the error. While there is no reader, an unhandled one would end the process.
  decoder.on('error', () => undefined)
  // Not a pipeline, which would close the socket on corrupt data.
  body.once('error', (error) => decoder.destroy(error))
  body.once('aborted', () => decoder.destroy(new Error('aborted')))
  return withErrors(name, body.pipe(decoder), body)
}

async function* withErrors(name: string, data: Decoded, body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* data
  } catch (error) {
    // A client that disconnected is not an error in its data.
    if (error instanceof EngineError || (body.destroyed && !body.readableEnded)) throw error
    const [code, codeName] = errorsOf[name] ?? [354, 'ZLIB_INFLATE_FAILED']
    throw EngineError.of(
      code,
      codeName,
      `Cannot decode the request body: ${error instanceof Error ? error.message : error}`,
    )
  }
}
