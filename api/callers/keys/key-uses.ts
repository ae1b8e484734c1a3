import type { FastifyBaseLogger } from 'fastify'

/** Shortest time between two writes of a process. */
const WRITE_EVERY_MS = 60_000

export type KeyUses = {
  /** Records that a key was used at a time. */
  add: (id: string, at: Date) => void
  /** Writes the recorded uses; if that fails, the next call does it. Never rejects. */
  write: () => Promise<void>
  /** Writes a last time. */
  close: () => Promise<void>
}

/** Collects when keys were last used, and calls `insert` for all of them together. */
export function createKeyUses(
  insert: (uses: ReadonlyMap<string, Date>) => Promise<void>,
  log: FastifyBaseLogger,
): KeyUses {
  let uses = new Map<string, Date>()

  const write = async (): Promise<void> => {
    if (uses.size === 0) return
    const batch = uses
    uses = new Map()
    try {
      await insert(batch)
    } catch (error) {
      uses = new Map([...batch, ...uses])
      log.warn({ err: error }, 'the last use of keys could not be written')
    }
  }

  const timer = setInterval(() => void write(), WRITE_EVERY_MS).unref()
  return {
    add: (id, at) => void uses.set(id, at),
    write,
    close: () => {
      clearInterval(timer)
      return write()
    },
  }
}
