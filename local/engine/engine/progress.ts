import { type Connection, markSetting } from './connection.js'

/** The progress of a running statement in rows, bytes and nanoseconds. `peak_memory` is in bytes. */
export type Progress = {
  read_rows: number
  read_bytes: number
  written_rows: number
  written_bytes: number
  total_rows_to_read: number
  elapsed_ns: number
  peak_memory: number
}

const intervalMs = 100

/**
 * Reports the progress of statements. Polls every 100 ms, once for all watchers, and only while there are any. A
 * statement that ends before the first poll is never reported.
 */
export class ProgressPoller {
  readonly #connection: Connection
  readonly #watchers = new Map<string, (progress: Progress) => void>()
  #timer: NodeJS.Timeout | undefined
  #poll: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Calls `onProgress` until the returned function is called. A mark can have one watcher. */
  watch(mark: string, onProgress: (progress: Progress) => void): () => void {
    this.#watchers.set(mark, onProgress)
    this.#schedule()
    return () => {
      this.#watchers.delete(mark)
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#watchers.clear()
    await this.#poll
    await this.#connection.close()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#watchers.size === 0) return
      this.#poll = this.#report()
        .catch(() => undefined)
        .then(() => {
          if (this.#watchers.size > 0) this.#schedule()
        })
    }, intervalMs).unref()
  }

  async #report(): Promise<void> {
    const { bytes } = await this.#connection.run(
      `SELECT Settings['${markSetting}'], read_rows, read_bytes, written_rows, written_bytes, total_rows_approx, ` +
        'toUInt64(elapsed * 1e9), greatest(peak_memory_usage, 0) FROM system.processes',
      'TabSeparated',
    )
    for (const line of bytes.toString().split('\n')) {
      const [mark = '', ...numbers] = line.split('\t')
      const [
        read_rows = 0,
        read_bytes = 0,
        written_rows = 0,
        written_bytes = 0,
        total = 0,
        elapsed_ns = 0,
        memory = 0,
      ] = numbers.map(Number)
      const total_rows_to_read = Math.max(total, read_rows)
      this.#watchers.get(mark)?.({
        read_rows,
        read_bytes,
        written_rows,
        written_bytes,
        total_rows_to_read,
        elapsed_ns,
        peak_memory: memory,
      })
    }
  }
}
