import { compressSync, uncompressSync } from 'lz4-napi'
import xxhash from 'xxhash-wasm'
import type { ByteReader } from './byte-reader.js'

const { h32Raw, create32 } = await xxhash()

/** The library puts the size of the data before an LZ4 block; frames and native blocks do not. */
const sizeBytes = 4

/** Compresses data to a bare LZ4 block. */
export const compressBlock = (data: Buffer): Buffer => compressSync(data).subarray(sizeBytes)

/**
 * Decompresses a bare LZ4 block of at most `maxBytes` of data. `before` is the data that a linked block may refer to.
 * Throws if it is invalid.
 */
export function decompressBlock(block: Buffer, maxBytes: number, before?: Buffer): Buffer {
  const sized = Buffer.allocUnsafe(sizeBytes + block.length)
  sized.writeUInt32LE(maxBytes)
  block.copy(sized, sizeBytes)
  return uncompressSync(sized, before)
}

const magic = 0x184d2204
const isSkippable = (word: number) => word >>> 4 === 0x184d2a5
/** Version 1, independent blocks of up to 4 MB, no checksums. The last byte is the checksum of the header. */
export const frameHeader = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73])
export const frameEnd = Buffer.alloc(4)
const uncompressedFlag = 0x8000_0000
/** How far back linked blocks may refer. */
const windowBytes = 64 * 1024

/** One block of a frame, uncompressed if compression does not make it smaller. */
export function frameBlock(data: Buffer): Buffer {
  const compressed = compressBlock(data)
  const isSmaller = compressed.length < data.length
  const size = Buffer.alloc(4)
  size.writeUInt32LE(isSmaller ? compressed.length : (data.length | uncompressedFlag) >>> 0)
  return Buffer.concat([size, isSmaller ? compressed : data])
}

/**
 * Decompresses LZ4 frames (lz4_Frame_format.md), block by block. Throws if they are invalid, truncated or fail a
 * checksum.
 */
export async function* decodeLz4(bytes: ByteReader): AsyncGenerator<Buffer> {
  while (!(await bytes.isAtEnd())) {
    const first = (await bytes.take(4)).readUInt32LE()
    if (isSkippable(first)) await bytes.take((await bytes.take(4)).readUInt32LE())
    else if (first === magic) yield* frame(bytes)
    else throw new Error('not an LZ4 frame')
  }
}

async function* frame(bytes: ByteReader): AsyncGenerator<Buffer> {
  const { hasBlockChecksums, hasChecksum, isLinked, blockBytes } = await readHeader(bytes)
  const checksum = create32()
  let before: Buffer | undefined
  for (;;) {
    const word = (await bytes.take(4)).readUInt32LE()
    if (word === 0) break
    const size = (word & ~uncompressedFlag) >>> 0
    if (size > blockBytes) throw new Error('an LZ4 block is longer than its frame allows')
    const block = await bytes.take(size)
    if (hasBlockChecksums && (await bytes.take(4)).readUInt32LE() !== h32Raw(block)) {
      throw new Error('the checksum of an LZ4 block does not match')
    }
    const data = word >= uncompressedFlag ? block : decompressBlock(block, blockBytes, before)
    if (hasChecksum) checksum.update(data)
    if (isLinked) before = lastBytes(before, data)
    yield data
  }
  if (hasChecksum && (await bytes.take(4)).readUInt32LE() !== checksum.digest()) {
    throw new Error('the checksum of an LZ4 frame does not match')
  }
}

async function readHeader(bytes: ByteReader) {
  const start = await bytes.take(2)
  const [flags, blockSize] = start as unknown as [number, number]
  const hasContentSize = (flags & 0x08) !== 0
  const hasDictionary = (flags & 0x01) !== 0
  if (flags >> 6 !== 1) throw new Error('this version of LZ4 frames is not supported')
  if (hasDictionary) throw new Error('LZ4 dictionaries are not supported')
  const descriptor = Buffer.concat([start, await bytes.take(hasContentSize ? 8 : 0)])
  const [check] = await bytes.take(1)
  if (check !== ((h32Raw(descriptor) >> 8) & 0xff))
    throw new Error('the header checksum of an LZ4 frame does not match')
  const sizeCode = (blockSize >> 4) & 7
  if (sizeCode < 4) throw new Error('an LZ4 frame has an unknown block size')
  return {
    isLinked: (flags & 0x20) === 0,
    hasBlockChecksums: (flags & 0x10) !== 0,
    hasChecksum: (flags & 0x04) !== 0,
    blockBytes: 1 << (8 + 2 * sizeCode),
  }
}

function lastBytes(before: Buffer | undefined, data: Buffer): Buffer {
  if (data.length >= windowBytes || !before) return Buffer.from(data.subarray(-windowBytes))
  return Buffer.concat([before, data]).subarray(-windowBytes)
}
