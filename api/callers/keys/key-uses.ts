import type { FastifyBaseLogger } from 'fastify'

/** So often at most the uses of a key are written, by each process. */
const WRITE_EVERY_MS = 60_000

export type KeyUses = {
  /** Remembers that a key has been used at a time. */
  add: (id: string, at: Date) => void
  /** Writes what is remembered; where that fails, the next time does it. Never rejects. */
  write: () => Promise<void>
  /** Writes a last time. */
  close: () => Promise<void>
}

/** Collects when keys were last used, and has `insert` write it for all of them together. */
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
