import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/**
 * Reads the secret in `file`. If there is no such file, creates it, readable by its owner only, with `prefix` and
 * `bytes` random bytes in base64url; then `isNew` is true.
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
