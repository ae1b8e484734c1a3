import { z } from 'zod'

/** An account or token address in any letter case; lower case after parsing, as in every table. */
export const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')
  .transform((address) => address.toLowerCase())

/** A ClickHouse DateTime in UTC: ISO 8601 on the wire, `Date` inside. */
export const dateTime = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
})

/** A 64-bit or wider integer, which travels as a decimal string. */
export const integerText = z.string().regex(/^-?\d+$/)
