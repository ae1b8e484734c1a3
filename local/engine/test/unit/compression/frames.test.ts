import lz4 from 'lz4-napi'
import { describe, expect, test } from 'vitest'
import { ByteReader } from '../../../compression/byte-reader.js'
import { cityHash128 } from '../../../compression/city-hash.js'
import { decodeLz4, frameBlock, frameEnd, frameHeader } from '../../../compression/lz4.js'
import { decodeNativeBlocks, nativeBlock } from '../../../compression/native-blocks.js'
import { decodeZstd, zstdFrame } from '../../../compression/zstd.js'

async function* inPieces(data: Buffer, size: number) {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size)
}

async function all(data: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = []
  for await (const chunk of data) found.push(chunk)
  return Buffer.concat(found)
}

const text = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `${i} and some words\n`).join(''))
const pieces = [1, 7, 65_536, 10_000_000]

const lines = (count: number) => Buffer.from(Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join(''))

/** `seq -f 'line %g' 40 | zstd -19 -c`, whose frame carries a checksum. */
const zstdByItsTool = Buffer.from(
  'KLUv/QRoJQIAMkMKD8C3Abb8ZxbZ3TslKyrODWAo8azo7jzxrOjuOPGs6O408azoBg2iDBInqBDobgbw1RAS6QM5WjS99/r/n1sFUgoh2tCE',
  'base64',
)
/**
 * `yes 'the same line' | head -n 10000 | lz4 -BD -B4 -BX -9 -c`: linked blocks of 64 KB, with checksums of each and of
 * all.
 */
const lz4ByItsTool = Buffer.from(
  'BCJNGFRArhgBAADvdGhlIHNhbWUgbGluZQoOAP/////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////aUG5lCnRooOw81AoBAAAPDgD/////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////6FAKdGhlIODVQRssAAAADw4A/////////////////////////////////////////////+pQbGluZQr92ZdDAAAAANle3bw=',
  'base64',
)

describe('zstd', () => {
  test('consecutive frames are one stream, wherever it is split', async () => {
    const stream = Buffer.concat([zstdFrame(text, 1), zstdFrame(Buffer.alloc(0), 3), zstdFrame(text, 99)])
    for (const size of pieces) {
      const data = await all(decodeZstd(new ByteReader(inPieces(stream, size))))
      expect(data.equals(Buffer.concat([text, text])), `pieces of ${size}`).toBe(true)
    }
  })

  test('output of its own tool can be read, and its checksum is verified', async () => {
    const read = (stream: Buffer) => all(decodeZstd(new ByteReader(inPieces(stream, 100))))
    expect(await read(zstdByItsTool)).toEqual(lines(40))
    const broken = Buffer.from(zstdByItsTool)
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1)
    await expect(read(broken)).rejects.toThrow(/checksum/)
    await expect(read(zstdByItsTool.subarray(0, -1))).rejects.toThrow(/too early/)
  })

  test('a frame that needs too much memory is refused', async () => {
    // Only a header, with a window of 1 GB.
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0x01, 0x00, 0x00])
    await expect(all(decodeZstd(new ByteReader(inPieces(header, 9))))).rejects.toThrow(/window/)
  })
})

describe('lz4', () => {
  test('the library reads frames written here, and its frames are read here', async () => {
    const stream = Buffer.concat([frameHeader, frameBlock(text), frameBlock(text), frameEnd])
    expect(lz4.decompressFrameSync(stream).equals(Buffer.concat([text, text]))).toBe(true)
    const options = { contentChecksum: true, blockChecksums: true }
    for (const size of pieces) {
      const frames = Buffer.concat([lz4.compressFrameSync(text, options), stream])
      const data = await all(decodeLz4(new ByteReader(inPieces(frames, size))))
      expect(data.equals(Buffer.concat([text, text, text])), `pieces of ${size}`).toBe(true)
    }
  })

  test('output of its own tool can be read, and its checksums are verified', async () => {
    const read = (stream: Buffer) => all(decodeLz4(new ByteReader(inPieces(stream, 1000))))
    expect((await read(lz4ByItsTool)).equals(Buffer.from('the same line\n'.repeat(10_000)))).toBe(true)
    for (const at of [5, 6, lz4ByItsTool.length >> 1, lz4ByItsTool.length - 1]) {
      const broken = Buffer.from(lz4ByItsTool)
      broken.writeUInt8(broken.readUInt8(at) ^ 0x10, at)
      await expect(read(broken), `byte ${at}`).rejects.toThrow()
    }
    await expect(read(lz4ByItsTool.subarray(0, -1))).rejects.toThrow(/too early/)
  })
})

describe('native blocks', () => {
  /** A block of the file primary.cidx of a table, written by the engine. */
  const byTheEngine = Buffer.from(
    'fn/dDPwTP5p/AdlBAv1cv5BxAAAA0AAAACi1L/0g0P0CAMQCAAAgAEAAYACAAKAAwADgAAEAIEBggKDA4AACIEBggKDA4AADPw0DAAAAAAAZAEAgyAxkAflAZiALyAcyA6OBLCAfyAxkAflAZispQMPAYYAxGBgMDAYGA4OBM4AF',
    'base64',
  )

  test('the hash is the same as the engine’s', () => {
    const [low, high] = cityHash128(byTheEngine.subarray(16))
    expect([low, high]).toEqual([byTheEngine.readBigUInt64LE(0), byTheEngine.readBigUInt64LE(8)])
  })

  test('blocks of every method are read, wherever the stream is split', async () => {
    const withMethod = (method: number, content: Buffer, size: number) => {
      const block = Buffer.alloc(25 + content.length)
      block.writeUInt8(method, 16)
      block.writeUInt32LE(9 + content.length, 17)
      block.writeUInt32LE(size, 21)
      content.copy(block, 25)
      const [low, high] = cityHash128(block.subarray(16))
      block.writeBigUInt64LE(low)
      block.writeBigUInt64LE(high, 8)
      return block
    }
    const stream = Buffer.concat([
      nativeBlock(text),
      withMethod(0x90, zstdFrame(text, 3), text.length),
      withMethod(0x02, text, text.length),
    ])
    for (const size of pieces) {
      const data = await all(decodeNativeBlocks(new ByteReader(inPieces(stream, size)), true))
      expect(data.equals(Buffer.concat([text, text, text])), `pieces of ${size}`).toBe(true)
    }
  })

  test('each kind of corrupt block has its own error', async () => {
    const read = (stream: Buffer, isChecked = true) =>
      all(decodeNativeBlocks(new ByteReader(inPieces(stream, 1000)), isChecked))
    const good = nativeBlock(text)
    const changed = (at: number, value: number) => {
      const block = Buffer.from(good)
      block.writeUInt8(value, at)
      return block
    }
    await expect(read(changed(0, good.readUInt8(0) ^ 1))).rejects.toMatchObject({ code: 40 })
    expect((await read(changed(0, good.readUInt8(0) ^ 1), false)).equals(text)).toBe(true)
    await expect(read(changed(16, 0x91), false)).rejects.toMatchObject({ code: 432 })
    await expect(read(changed(20, 0x7f))).rejects.toMatchObject({ code: 39 })
    await expect(read(changed(21, good.readUInt8(21) - 1), false)).rejects.toMatchObject({ code: 271 })
    await expect(read(changed(21, good.readUInt8(21) + 1), false)).rejects.toMatchObject({ code: 271 })
    await expect(read(good.subarray(0, -1))).rejects.toMatchObject({ code: 33 })
  })
})
