import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unusable } from './directories.js'

/**
 * Marks a data directory as used by this process, so that a second process fails with a clear message before it changes
 * anything. The engine's own lock, which ends with its process, is what really keeps a second one out.
 */
export class DirectoryLock {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Throws if a running process uses the directory, or if the directory is not writable. */
  static claim(directory: string): DirectoryLock {
    const file = join(directory, 'owner.json')
    const owner = read(file)
    if (owner && owner.pid !== process.pid && startOf(owner.pid) === owner.start) {
      throw new Error(`data directory ${directory} is in use by process ${owner.pid}`)
    }
    const note = JSON.stringify({ pid: process.pid, start: startOf(process.pid) })
    try {
      writeFileSync(file, note, { mode: 0o600 })
    } catch (error) {
      throw unusable(directory, 'data directory', error)
    }
    return new DirectoryLock(file)
  }

  /** Why the engine could not open the directory: the process that holds its lock, if the system reports one. */
  static whyLocked(directory: string): string {
    const holder = lockHolder(join(directory, 'engine', 'status'))
    if (holder === undefined)
      return `data directory ${directory} cannot be opened by the engine; its reason is printed above`
    return `data directory ${directory} is in use by another process (${holder})`
  }

  /** Removes the mark, unless it is another process's. */
  release(): void {
    if (read(this.#file)?.pid === process.pid) rmSync(this.#file, { force: true })
  }
}

function read(file: string): { pid: number; start: string | undefined } | undefined {
  try {
    const { pid, start } = JSON.parse(readFileSync(file, 'utf8'))
    return Number.isInteger(pid) ? { pid, start } : undefined
  } catch {
    return undefined
  }
}

/**
 * The start time of a process, which distinguishes it from a later one with the same id; undefined if there is no such process.
 */
function startOf(pid: number): string | undefined {
  try {
    // After the name, which may contain any character, come the state and 19 fields up to the start time.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return existsWithoutProc(pid) ? 'running' : undefined
  }
}

function existsWithoutProc(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux'
  } catch {
    return false
  }
}

/** The process that holds a lock on the file, from the kernel's list of locks. */
function lockHolder(file: string): number | undefined {
  try {
    const inode = String(statSync(file).ino)
    const locks = readFileSync('/proc/locks', 'utf8').split('\n')
    const pid = locks.map((line) => line.trim().split(/\s+/)).find((fields) => fields[5]?.endsWith(`:${inode}`))?.[4]
    return pid === undefined ? undefined : Number(pid)
  } catch {
    return undefined
  }
}
