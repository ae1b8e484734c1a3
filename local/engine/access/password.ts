import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** As in ClickHouse's users.xml: SHA-256 of the password followed by the salt, in hexadecimal. */
export type PasswordHash = { password_sha256_hex: string; password_salt: string }

const digest = (password: string, salt: string) => createHash('sha256').update(`${password}${salt}`).digest()

/** The hash of a password with a new salt. It is fast to compute, so passwords must be long and random. */
export function hashPassword(password: string): PasswordHash {
  const salt = randomBytes(16).toString('hex')
  return { password_sha256_hex: digest(password, salt).toString('hex'), password_salt: salt }
}

/** Whether the password matches the hash. Takes the same time wherever they differ. */
export function isPassword(password: string, hash: PasswordHash): boolean {
  return timingSafeEqual(digest(password, hash.password_salt), Buffer.from(hash.password_sha256_hex, 'hex'))
}
