import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/**
 * The secret that a file keeps, of `bytes` random bytes in base64url with `prefix` before them; made where there is no
 * such file, for its owner's eyes only. `isNew` says that it was.
 */
export async function keptSecret(
  file: string,
  bytes: number,
  prefix = '',
): Promise<{ secret: string; isNew: boolean }> {
  try {
    return { secret: (await readFile(file, 'utf8')).trim(), isNew: false }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const secret = `${prefix}${randomBytes(bytes).toString('base64url')}`
  await writeFile(file, secret, { mode: 0o600, flag: 'wx' })
  return { secret, isNew: true }
}
