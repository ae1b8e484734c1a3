import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { PlumblineError } from './errors.js'

/** The prefix of a sealed text, to distinguish later formats. */
const FORMAT = 'v1.'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A secret was sealed with another key or for another owner, or is damaged. */
export class SealedSecretError extends PlumblineError {
  constructor(id: string, cause?: unknown) {
    super(`the secret of ${id} cannot be opened: SECRETS_KEY is not the one that it was sealed with`, {
      retryable: false,
      cause,
    })
  }
}

/** A key for each purpose, so that a text sealed for one purpose cannot be opened for another. */
const sealingKey = (secretsKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'plumbline webhook secrets', KEY_BYTES))

/**
 * Encrypts a secret of `id`, with a key derived from SECRETS_KEY: AES-256-GCM, with nonce, text and tag in base64url.
 * It opens only for the same id, and no two results are equal.
 */
export function seal(secretsKey: Buffer, id: string, secret: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, sealingKey(secretsKey), nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(id))
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return FORMAT + Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts what was sealed for `id`. Throws SealedSecretError, whose message contains none of it. */
export function open(secretsKey: Buffer, id: string, sealed: string): string {
  const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url')
  if (!sealed.startsWith(FORMAT) || bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealedSecretError(id)
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(CIPHER, sealingKey(secretsKey), nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(id))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const text = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw new SealedSecretError(id, cause)
  }
}

/** Whether `open` would succeed. */
export function isOpenable(secretsKey: Buffer, id: string, sealed: string): boolean {
  try {
    open(secretsKey, id, sealed)
    return true
  } catch (error) {
    if (error instanceof SealedSecretError) return false
    throw error
  }
}

const BYTES = 32

/** SECRETS_KEY in the environment, from which the keys for all secrets in the database are derived. */
export const secretsKey = z
  .string()
  .regex(/^[\w-]{43}$/, `must be ${BYTES} bytes in base64url, 43 characters`)
  .transform((text) => Buffer.from(text, 'base64url'))
