import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unusable } from './directories.js'

/**
 * Says who owns a data directory. The engine's own lock, which vanishes with its process, is what keeps a second one out;
 * this is for the message, and it keeps a second one from touching anything before.
 */
export class Owner {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Throws when a living process owns the directory, or when nothing can be written there. */
  static claim(directory: string): Owner {
    const file = join(directory, 'owner.json')
    const owner = read(file)
    if (owner && owner.pid !== process.pid && startOf(owner.pid) === owner.start) {
      throw new Error(`data directory ${directory} is owned by process ${owner.pid}, which is running`)
    }
    const note = JSON.stringify({ pid: process.pid, start: startOf(process.pid) })
    try {
      writeFileSync(file, note, { mode: 0o600 })
    } catch (error) {
      throw unusable(directory, 'data directory', error)
    }
    return new Owner(file)
  }

  /** Why the engine could not open the directory: the process that has locked it, as far as the system tells. */
  static whyLocked(directory: string): string {
    const holder = lockHolder(join(directory, 'engine', 'status'))
    if (holder === undefined) return `data directory ${directory} cannot be opened by the engine (its reason is above)`
    return `data directory ${directory} is in use by another process (${holder})`
  }

  /** Leaves the note of another owner alone. */
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

/** Something that a later process with the same id does not share; undefined when no process has it. */
function startOf(pid: number): string | undefined {
  try {
    // Behind the name, which may hold anything: state, then 19 fields up to the start time.
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

/** The process with a lock on the file, from the kernel's list. */
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
