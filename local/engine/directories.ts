import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'

/**
 * Makes a directory that only this user can enter, or makes sure of one that is there; returns its path without links.
 * Throws an error that names it. `what` says what it is for.
 */
export function ownDirectory(path: string, what: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const { uid } = statSync(path)
    // As a server does: what root wrote into the directory of another user, that user could not open later.
    if (uid !== process.geteuid?.())
      throw new Error(`it belongs to the user with id ${uid}, not to the one of this process`)
    chmodSync(path, 0o700)
    return realpathSync(path)
  } catch (error) {
    throw unusable(path, what, error)
  }
}

/** The error for a directory that cannot be used, with what the system says about it. */
export function unusable(path: string, what: string, error: unknown): Error {
  return new Error(`${what} ${path} cannot be used: ${error instanceof Error ? error.message : error}`)
}
