import { Readable } from 'node:stream'
import { EngineError } from '../engine/errors.js'
import { ByteReader } from './byte-reader.js'
import { cityHash128 } from './city-hash.js'
import { compressBlock, decompressBlock } from './lz4.js'
import { decodeZstd } from './zstd.js'

/**
 * ClickHouse's own compressed blocks (`compress=1`, `decompress=1`): a checksum of 16 bytes over all that follows, the
 * method, the size of the block from the method on, the size of its data, the data.
 */
const checksumBytes = 16
const headBytes = 9
const methods = { none: 0x02, lz4: 0x82, zstd: 0x90 }
/** Clients cut at 1 MB. A server would take 1 GB, which it has to hold. */
const maxBlockBytes = 128 * 1024 * 1024

/** One block, by LZ4, as a server sends them. */
export function nativeBlock(data: Buffer): Buffer {
  const compressed = compressBlock(data)
  const block = Buffer.allocUnsafe(checksumBytes + headBytes + compressed.length)
  const content = block.subarray(checksumBytes)
  content.writeUInt8(methods.lz4)
  content.writeUInt32LE(content.length, 1)
  content.writeUInt32LE(data.length, 5)
  compressed.copy(content, headBytes)
  const [low, high] = cityHash128(content)
  block.writeBigUInt64LE(low)
  block.writeBigUInt64LE(high, 8)
  return block
}

/** The data of a stream of blocks. Throws ClickHouse's errors for what is broken or cut off. */
export async function* decodeNativeBlocks(bytes: ByteReader, isChecked: boolean): AsyncGenerator<Buffer> {
  while (!(await bytes.isAtEnd())) {
    const head = Buffer.from(await bytes.take(checksumBytes + headBytes))
    const size = head.readUInt32LE(checksumBytes + 1)
    const dataSize = head.readUInt32LE(checksumBytes + 5)
    if (size > maxBlockBytes || dataSize > maxBlockBytes) {
      const text = `Too large size_compressed_without_checksum: ${Math.max(size, dataSize)}. Most likely corrupted data`
      throw EngineError.of(39, 'TOO_LARGE_SIZE_COMPRESSED', text)
    }
    if (size < headBytes) throw cannotDecompress('its size is less than that of its header')
    const content = Buffer.concat([head.subarray(checksumBytes), await bytes.take(size - headBytes)])
    if (isChecked) assertChecksum(head, content)
    const data = await decompress(content, dataSize)
    if (data.length !== dataSize) throw cannotDecompress(`${data.length} bytes were found and ${dataSize} announced`)
    yield data
  }
}

function assertChecksum(head: Buffer, content: Buffer): void {
  const [low, high] = cityHash128(content)
  if (head.readBigUInt64LE() === low && head.readBigUInt64LE(8) === high) return
  throw EngineError.of(40, 'CHECKSUM_DOESNT_MATCH', "Checksum doesn't match: corrupted data")
}

async function decompress(content: Buffer, dataSize: number): Promise<Buffer> {
  const compressed = content.subarray(headBytes)
  const method = content.readUInt8()
  try {
    if (method === methods.none) return compressed
    if (method === methods.lz4) return decompressBlock(compressed, dataSize)
    if (method === methods.zstd) return await unzstd(compressed, dataSize)
  } catch (error) {
    throw cannotDecompress(error instanceof Error ? error.message : String(error))
  }
  const text = `Unknown codec family code: ${method}. Blocks may be LZ4, ZSTD or NONE`
  throw EngineError.of(432, 'UNKNOWN_CODEC', text)
}

async function unzstd(compressed: Buffer, dataSize: number): Promise<Buffer> {
  const found: Buffer[] = []
  let size = 0
  for await (const data of decodeZstd(new ByteReader(Readable.from([compressed])))) {
    size += data.length
    if (size > dataSize) throw new Error('it has more data than announced')
    found.push(data)
  }
  return Buffer.concat(found)
}

const cannotDecompress = (text: string) =>
  EngineError.of(271, 'CANNOT_DECOMPRESS', `Cannot decompress a block of the request body: ${text}`)
