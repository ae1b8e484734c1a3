import { Transform, type TransformCallback } from 'node:stream'
import { compressSync, uncompressSync } from 'lz4-napi'

/**
 * Streams of the LZ4 frame format (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md). The library has the
 * blocks, and frames only as a whole, which would hold a result in memory.
 */

const magic = 0x184d2204
const endMark = Buffer.alloc(4)
/** Version 1, independent blocks, no checksums, blocks of at most 256 KB; the last byte checks the two before. */
const frameHead = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x60, 0x51])
const blockBytes = 256 * 1024
const isStored = 0x8000_0000
const dictionaryBytes = 64 * 1024
const maxBlockBytes = [0, 0, 0, 0, 64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024]

function blocks(data: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < data.length; at += blockBytes) {
    const raw = data.subarray(at, at + blockBytes)
    // The library puts the size in front, for which a frame has a place of its own.
    const packed = compressSync(raw).subarray(4)
    const size = Buffer.alloc(4)
    const isSmaller = packed.length < raw.length
    size.writeUInt32LE(isSmaller ? packed.length : (raw.length | isStored) >>> 0)
    parts.push(size, isSmaller ? packed : raw)
  }
  return parts
}

/** Makes one frame of what is written. */
export function lz4Compressor(): Transform {
  let isStarted = false
  const start = (stream: Transform) => {
    if (!isStarted) stream.push(frameHead)
    isStarted = true
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      start(this)
      for (const part of blocks(chunk)) this.push(part)
      done()
    },
    flush(done) {
      start(this)
      done(null, endMark)
    },
  })
}

/** Undoes any number of frames. Fails for what is none, or is cut off. */
export function lz4Decompressor(): Transform {
  const decoder = new FrameDecoder()
  const transform = (chunk: Buffer, stream: Transform, done: TransformCallback) => {
    try {
      for (const block of decoder.push(chunk)) stream.push(block)
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      transform(chunk, this, done)
    },
    flush(done) {
      done(decoder.isBetweenFrames ? null : new Error('unexpected end of the LZ4 frame'))
    },
  })
}

type Frame = { maxBytes: number; isLinked: boolean; hasBlockChecksums: boolean; hasContentChecksum: boolean }

class FrameDecoder {
  #rest: Buffer = Buffer.alloc(0)
  #frame: Frame | undefined
  /** The last 64 KB, to which linked blocks refer. */
  #dictionary: Buffer = Buffer.alloc(0)

  get isBetweenFrames(): boolean {
    return this.#frame === undefined && this.#rest.length === 0
  }

  *push(chunk: Buffer): Generator<Buffer> {
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    for (;;) {
      if (!this.#frame && !this.#takeHead()) return
      const block = this.#takeBlock()
      if (block === undefined) return
      if (block.length > 0) yield block
    }
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }

  #takeHead(): boolean {
    if (this.#rest.length < 7) return false
    if (this.#rest.readUInt32LE(0) !== magic) throw new Error('not an LZ4 frame')
    const [flags = 0, descriptor = 0] = this.#rest.subarray(4, 6)
    if (flags >> 6 !== 1) throw new Error('unknown version of the LZ4 frame format')
    const length = 7 + (flags & 8 ? 8 : 0) + (flags & 1 ? 4 : 0)
    if (this.#rest.length < length) return false
    if (flags & 1) throw new Error('LZ4 frames with a dictionary are not supported')
    const maxBytes = maxBlockBytes[(descriptor >> 4) & 7] || 0
    if (maxBytes === 0) throw new Error('broken head of an LZ4 frame')
    this.#take(length)
    this.#dictionary = Buffer.alloc(0)
    this.#frame = {
      maxBytes,
      isLinked: (flags & 0x20) === 0,
      hasBlockChecksums: (flags & 0x10) !== 0,
      hasContentChecksum: (flags & 4) !== 0,
    }
    return true
  }

  /** The bytes of the next block; none at the end of a frame; undefined when it is not all there yet. */
  #takeBlock(): Buffer | undefined {
    const frame = this.#frame as Frame
    if (this.#rest.length < 4) return undefined
    const word = this.#rest.readUInt32LE(0)
    if (word === 0) {
      const length = frame.hasContentChecksum ? 8 : 4
      if (this.#rest.length < length) return undefined
      this.#take(length)
      this.#frame = undefined
      return Buffer.alloc(0)
    }
    const size = (word & ~isStored) >>> 0
    if (size > frame.maxBytes) throw new Error('an LZ4 block is larger than its frame allows')
    const length = 4 + size + (frame.hasBlockChecksums ? 4 : 0)
    if (this.#rest.length < length) return undefined
    const data = this.#take(length).subarray(4, 4 + size)
    const block = word & isStored ? Buffer.from(data) : this.#unpack(data, frame)
    if (frame.isLinked) this.#dictionary = Buffer.concat([this.#dictionary, block]).subarray(-dictionaryBytes)
    return block
  }

  #unpack(data: Buffer, frame: Frame): Buffer {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(frame.maxBytes)
    const sized = Buffer.concat([size, data])
    return frame.isLinked && this.#dictionary.length > 0
      ? uncompressSync(sized, this.#dictionary)
      : uncompressSync(sized)
  }
}
