import { z } from 'zod'

const BYTES = 32

/** SECRETS_KEY in the environment: what keys for everything that is secret in the database are derived from. */
export const secretsKey = z
  .string()
  .regex(/^[\w-]{43}$/, `must be ${BYTES} bytes in base64url, 43 characters`)
  .transform((text) => Buffer.from(text, 'base64url'))
