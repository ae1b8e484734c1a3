import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'

/**
 * Creates a directory that only this user can access, or restricts an existing one to this user. Returns its path without
 * symbolic links. Throws an error that names the directory; `what` is its purpose.
 */
export function ownDirectory(path: string, what: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const { uid } = statSync(path)
    // As a server does: files that root writes into another user's directory could not be opened by that user later.
    if (uid !== process.geteuid?.())
      throw new Error(`it belongs to the user with id ${uid}, but this process runs as ${process.geteuid?.()}`)
    chmodSync(path, 0o700)
    return realpathSync(path)
  } catch (error) {
    throw unusable(path, what, error)
  }
}

/** The error for a directory that cannot be used, with the system's reason. */
export function unusable(path: string, what: string, error: unknown): Error {
  return new Error(`${what} ${path} cannot be used: ${error instanceof Error ? error.message : error}`)
}
