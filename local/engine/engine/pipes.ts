import { closeSync, constants, mkdirSync, openSync, readSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { declare } from '../sandbox/libc.js'

const mkfifo = declare<[path: string, mode: number]>('int mkfifo(const char *path, uint mode)')
/** Smaller files are written synchronously, which is faster than using another thread. */
const smallFileBytes = 128 * 1024

const pipesAtOnce = 16

const { O_RDONLY, O_RDWR, O_NONBLOCK } = constants

/** A named pipe between the engine and this process. Both ends are opened for each use. */
export class Pipe {
  readonly path: string
  constructor(path: string) {
    this.path = path
  }

  /** The end for reading what the engine writes. Open it before the engine opens the pipe. */
  reader(): PipeReader {
    return new PipeReader(this.path)
  }

  /** The end for sending rows to the engine. Opened for reading too, so that opening does not wait for the engine. */
  writer(): Socket {
    return new Socket({ fd: openSync(this.path, O_RDWR | O_NONBLOCK), readable: false, writable: true })
  }

  /** Ends all readers, by opening and closing the pipe as a writer, which they see as the end of the file. */
  endReaders(): void {
    closeSync(openSync(this.path, O_RDWR | O_NONBLOCK))
  }
}

const scratch = Buffer.alloc(65_536)

/**
 * Reads from a pipe. Keeps it open until `readRest`: the engine may open it more than once (it does when a query fails),
 * and would wait forever in open() without a reader.
 */
export class PipeReader {
  readonly #path: string
  readonly #fd: number

  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, O_RDONLY | O_NONBLOCK)
  }

  /** Yields chunks until a writer has opened and closed the pipe. */
  async *chunks(): AsyncGenerator<Buffer> {
    const socket = new Socket({ fd: openSync(this.#path, O_RDONLY | O_NONBLOCK), readable: true, writable: false })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    try {
      yield* socket
    } finally {
      socket.destroy()
      await closed
    }
  }

  /**
   * Reads what is left in the pipe (at most 64 KB) without waiting, and closes it. Call it when no writer will follow.
   */
  readRest(): Buffer[] {
    const chunks: Buffer[] = []
    try {
      for (;;) {
        const size = readSync(this.#fd, scratch)
        if (size === 0) return chunks
        chunks.push(Buffer.from(scratch.subarray(0, size)))
      }
    } finally {
      closeSync(this.#fd)
    }
  }
}

/** The pipes and temporary files of one engine, in a directory that only its owner can access. */
export class Pipes {
  readonly #directory: string
  readonly #free: Pipe[]
  #made: number
  #files = 0

  private constructor(directory: string, free: Pipe[]) {
    this.#directory = directory
    this.#free = free
    this.#made = free.length
  }

  /** Opens the directory and removes what an earlier process left there. */
  static open(directory: string): Pipes {
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return new Pipes(directory, makePipes(directory, 0))
  }

  take(): Pipe {
    const free = this.#free.pop()
    if (free) return free
    const [pipe, ...spare] = makePipes(this.#directory, this.#made)
    this.#made += pipesAtOnce
    this.#free.push(...spare)
    return pipe as Pipe
  }

  /** Returns a pipe for reuse. Both ends must be closed before. */
  release(pipe: Pipe): void {
    this.#free.push(pipe)
  }

  /** Writes `data` to a file, calls `use` with its path, and removes it. */
  async withFile<T>(data: Buffer, use: (path: string) => Promise<T>): Promise<T> {
    const path = this.newFile()
    const isSmall = data.length <= smallFileBytes
    try {
      if (isSmall) writeFileSync(path, data, { mode: 0o600 })
      else await writeFile(path, data, { mode: 0o600 })
      return await use(path)
    } finally {
      if (isSmall) unlinkSync(path)
      else await rm(path, { force: true })
    }
  }

  /** An unused path. A caller who creates the file has to remove it. */
  newFile(): string {
    return join(this.#directory, `rows-${++this.#files}`)
  }

  async removeFiles(files: readonly { path: string }[]): Promise<void> {
    for (const { path } of files) await rm(path, { force: true })
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function makePipes(directory: string, first: number): Pipe[] {
  return Array.from({ length: pipesAtOnce }, (_, i) => {
    const path = join(directory, `pipe-${first + i}`)
    mkfifo(path, 0o600)
    return new Pipe(path)
  })
}
