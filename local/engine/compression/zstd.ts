import { compress, init } from '@bokuweb/zstd-wasm'
import { Decompress } from 'fzstd'
import xxhash from 'xxhash-wasm'
import type { ByteReader } from './byte-reader.js'

await init()
const { create64 } = await xxhash()

/** Higher levels would block this thread for longer than they are worth for a small block. */
const maxLevel = 6

/** Compresses data to a complete frame. A sequence of frames is a valid stream. */
export function zstdFrame(data: Buffer, level: number): Buffer {
  const frame = compress(data, Math.min(Math.max(level, 1), maxLevel))
  return Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)
}

const magic = 0xfd2fb528
const isSkippable = (word: number) => word >>> 4 === 0x184d2a5
/** The limit of RFC 9659 for HTTP. A larger window costs the sender nothing but the receiver memory. */
const maxWindowBytes = 8 * 1024 * 1024
/** The largest size of a block, compressed or not. */
const maxBlockBytes = 128 * 1024
const isRle = 1

/**
 * Decompresses zstd frames (RFC 8878) block by block, so that a small body cannot expand to a large one at once. Throws
 * if they are invalid, truncated or fail a checksum.
 */
export async function* decodeZstd(bytes: ByteReader): AsyncGenerator<Buffer> {
  while (!(await bytes.isAtEnd())) {
    const first = await bytes.take(4)
    const word = first.readUInt32LE()
    if (isSkippable(word)) await bytes.take((await bytes.take(4)).readUInt32LE())
    else if (word === magic) yield* frame(bytes, Buffer.from(first))
    else throw new Error('not a zstd frame')
  }
}

async function* frame(bytes: ByteReader, start: Buffer): AsyncGenerator<Buffer> {
  const { header, hasChecksum } = await readHeader(bytes, start)
  const checksum = create64()
  const found: Uint8Array[] = []
  const decoder = new Decompress((data) => found.push(data))
  decoder.push(header)
  for (let isLast = false; !isLast; ) {
    const head = await bytes.take(3)
    const word = head.readUIntLE(0, 3)
    isLast = (word & 1) === 1
    const size = word >> 3
    if (size > maxBlockBytes) throw new Error('a zstd block is too long')
    // Copied: a piece is only valid until the next one is read.
    decoder.push(Buffer.from(head))
    const content = Buffer.from(await bytes.take(((word >> 1) & 3) === isRle ? 1 : size))
    const check = isLast && hasChecksum ? Buffer.from(await bytes.take(4)) : Buffer.alloc(0)
    decoder.push(Buffer.concat([content, check]), isLast)
    for (const data of found.splice(0)) {
      if (data.length === 0) continue
      if (hasChecksum) checksum.update(data)
      yield Buffer.from(data)
    }
    if (isLast && hasChecksum && check.readUInt32LE() !== Number(checksum.digest() & 0xffff_ffffn)) {
      throw new Error('the checksum of a zstd frame does not match')
    }
  }
}

async function readHeader(bytes: ByteReader, start: Buffer): Promise<{ header: Buffer; hasChecksum: boolean }> {
  const [flags = 0] = await bytes.take(1)
  const isSingleSegment = (flags & 0x20) !== 0
  if ((flags & 3) !== 0) throw new Error('zstd dictionaries are not supported')
  const sizeCode = flags >> 6
  const sizeBytes = sizeCode === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeCode
  const rest = Buffer.from(await bytes.take((isSingleSegment ? 0 : 1) + sizeBytes))
  if (windowBytes(rest, isSingleSegment) > maxWindowBytes) {
    throw new Error(`a zstd frame needs a window of more than ${maxWindowBytes} bytes`)
  }
  return { header: Buffer.concat([start, Buffer.from([flags]), rest]), hasChecksum: (flags & 4) !== 0 }
}

function windowBytes(fields: Buffer, isSingleSegment: boolean): number {
  if (isSingleSegment) {
    if (fields.length === 8) return Number(fields.readBigUInt64LE())
    return fields.readUIntLE(0, fields.length) + (fields.length === 2 ? 256 : 0)
  }
  const descriptor = fields.readUInt8()
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}
