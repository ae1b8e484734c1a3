import { Transform } from 'node:stream'
import { Zstd } from '@hpcc-js/wasm-zstd'
import { Decompress } from 'fzstd'

const zstd = await Zstd.load()

/** A frame for each of these: frames in a row are as good as one, and need no state that streams would share. */
const frameBytes = 256 * 1024

/** Makes frames of what is written. */
export function zstdCompressor(level: number): Transform {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let isEmpty = true
  const frame = () => {
    const packed = zstd.compress(Buffer.concat(waiting), Math.max(level, 1))
    waiting = []
    waitingBytes = 0
    isEmpty = false
    return packed
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting.push(chunk)
      waitingBytes += chunk.length
      done(null, waitingBytes >= frameBytes ? frame() : undefined)
    },
    flush(done) {
      done(null, waitingBytes > 0 || isEmpty ? frame() : undefined)
    },
  })
}

/** Undoes any number of frames. Fails for what is none, or is cut off. */
export function zstdDecompressor(): Transform {
  let push: (data: Uint8Array) => void = () => undefined
  const decoder = new Decompress((data) => {
    if (data.length > 0) push(Buffer.from(data))
  })
  const attempt = (work: () => void, done: (error?: Error | null) => void) => {
    try {
      work()
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      push = (data) => this.push(data)
      attempt(() => decoder.push(chunk), done)
    },
    flush(done) {
      push = (data) => this.push(data)
      attempt(() => decoder.push(new Uint8Array(0), true), done)
    },
  })
}
