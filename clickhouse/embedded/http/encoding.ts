import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createDeflate,
  createGunzip,
  createGzip,
  createInflate,
} from 'node:zlib'
import { notImplemented } from '../engine/errors.js'
import { lz4Compressor, lz4Decompressor } from './lz4.js'
import { zstdCompressor, zstdDecompressor } from './zstd.js'

/** As a server does it unless http_zlib_compression_level says otherwise. */
const defaultLevel = 3

type Codec = { compressor: (level: number) => Transform; decompressor: () => Transform }

/** The content codings, in the order in which a server prefers them. */
const codecs = {
  br: {
    compressor: (level) => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: level } }),
    decompressor: createBrotliDecompress,
  },
  lz4: { compressor: lz4Compressor, decompressor: lz4Decompressor },
  zstd: { compressor: (level) => zstdCompressor(level), decompressor: zstdDecompressor },
  gzip: { compressor: (level) => createGzip({ level }), decompressor: createGunzip },
  deflate: { compressor: (level) => createDeflate({ level }), decompressor: createInflate },
} satisfies Record<string, Codec>

export type Encoding = { name: keyof typeof codecs; compressor: () => Transform }

/**
 * The encoding that a client accepts, the first of a server's order that it does not exclude by `q=0`. None when
 * the setting enable_http_compression, which is on by default, is switched off.
 */
export function acceptedEncoding(request: IncomingMessage, url: URLSearchParams): Encoding | undefined {
  const isOn = url.get('enable_http_compression') ?? '1'
  if (isOn !== '1' && isOn !== 'true') return undefined
  const accepted = new Set<string>()
  for (const part of String(request.headers['accept-encoding'] ?? '').split(',')) {
    const [name = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
    if (!params.some((param) => /^q=0(\.0*)?$/.test(param))) accepted.add(name)
  }
  const name = (Object.keys(codecs) as (keyof typeof codecs)[]).find((one) => accepted.has(one))
  if (name === undefined) return undefined
  const asked = Number(url.get('http_zlib_compression_level') ?? defaultLevel)
  const level = Number.isInteger(asked) ? Math.min(Math.max(asked, 0), 9) : defaultLevel
  return { name, compressor: () => codecs[name].compressor(level) }
}

/** What undoes a request's Content-Encoding, undefined when there is none. Throws for one that is not known. */
export function contentDecoder(request: IncomingMessage): Transform | undefined {
  const name = (request.headers['content-encoding'] ?? '').toLowerCase().replace(/^x-/, '')
  if (name === '' || name === 'identity') return undefined
  const codec = Object.entries(codecs).find(([known]) => known === name)?.[1]
  if (!codec) throw notImplemented(`Unknown compression method: ${name}`)
  return codec.decompressor()
}
