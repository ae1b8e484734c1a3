import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/** What a key gives access to besides the free routes. */
export const KeyScope = z.enum(['paid', 'stream']).meta({
  description: 'paid: routes with a price cost nothing. stream: more streams at the same time, from any address',
})
export type KeyScope = z.infer<typeof KeyScope>

const KEY_BYTES = 32
/** `pk_` and 8 of the 43 characters after it, which leaves more than 200 unknown bits. */
const PREFIX_LENGTH = 11

/** A new random key, and its id. */
export const newApiKey = () => ({
  id: `key_${randomBytes(8).toString('hex')}`,
  key: `pk_${randomBytes(KEY_BYTES).toString('base64url')}`,
})

/** The part of a key that is shown, to distinguish it from others. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_LENGTH)

/** SHA-256 in hex: all that is stored of a key. */
export const hashOf = (key: string): string => hash('sha256', key)

/** Compares two hashes in constant time. */
export const isSameHash = (first: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(first, 'latin1'), Buffer.from(other, 'latin1'))
