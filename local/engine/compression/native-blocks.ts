import { Readable } from 'node:stream'
import { EngineError } from '../engine/errors.js'
import { ByteReader } from './byte-reader.js'
import { cityHash128 } from './city-hash.js'
import { compressBlock, decompressBlock } from './lz4.js'
import { decodeZstd } from './zstd.js'

/**
 * ClickHouse's own compressed blocks (`compress=1`, `decompress=1`). Layout: a checksum of 16 bytes over all that
 * follows, the method, the size of the block from the method on, the size of the decompressed data, the compressed
 * data.
 */
const checksumBytes = 16
const headBytes = 9
const methods = { none: 0x02, lz4: 0x82, zstd: 0x90 }
/** Clients send blocks of 1 MB. A server accepts 1 GB, but a block has to fit into memory. */
const maxBlockBytes = 128 * 1024 * 1024

/** One block, compressed with LZ4 as a server does. */
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

/** Decompresses a stream of blocks. Throws ClickHouse's errors for corrupt or truncated blocks. */
export async function* decodeNativeBlocks(bytes: ByteReader, isChecked: boolean): AsyncGenerator<Buffer> {
  while (!(await bytes.isAtEnd())) {
    const head = Buffer.from(await bytes.take(checksumBytes + headBytes))
    const size = head.readUInt32LE(checksumBytes + 1)
    const dataSize = head.readUInt32LE(checksumBytes + 5)
    if (size > maxBlockBytes || dataSize > maxBlockBytes) {
      const text = `Too large size_compressed_without_checksum: ${Math.max(size, dataSize)}. Most likely corrupted data`
      throw EngineError.of(39, 'TOO_LARGE_SIZE_COMPRESSED', text)
    }
    if (size < headBytes) throw cannotDecompress('its size is less than the size of its header')
    const content = Buffer.concat([head.subarray(checksumBytes), await bytes.take(size - headBytes)])
    if (isChecked) assertChecksum(head, content)
    const data = await decompress(content, dataSize)
    if (data.length !== dataSize)
      throw cannotDecompress(`it has ${data.length} bytes of data, but its header says ${dataSize}`)
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
    if (size > dataSize) throw new Error('it has more data than its header says')
    found.push(data)
  }
  return Buffer.concat(found)
}

const cannotDecompress = (text: string) =>
  EngineError.of(271, 'CANNOT_DECOMPRESS', `Cannot decompress a block of the request body: ${text}`)
