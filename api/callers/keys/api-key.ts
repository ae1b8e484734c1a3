import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/** What a key may open besides what is free. */
export const KeyScope = z.enum(['paid', 'stream']).meta({
  description: 'paid: routes with a price cost nothing. stream: more streams at the same time, from any address',
})
export type KeyScope = z.infer<typeof KeyScope>

const KEY_BYTES = 32
/** `pk_` and 8 of the 43 characters after it, which leaves more than 200 unknown bits. */
const PREFIX_LENGTH = 11

/** A new key, which nobody can guess, and the name that it goes by. */
export const newApiKey = () => ({
  id: `key_${randomBytes(8).toString('hex')}`,
  key: `pk_${randomBytes(KEY_BYTES).toString('base64url')}`,
})

/** What of a key is shown to people, and tells keys apart. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_LENGTH)

/** SHA-256, hexadecimal: all that is kept of a key. */
export const hashOf = (key: string): string => hash('sha256', key)

/** Compares two hashes in a time that says nothing about where they differ. */
export const isSameHash = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1'))
