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

/** Fields that mean the same in every answer. */
export const stableAddress = z.string().meta({ description: 'Address of the stable, in lower case' })
export const blockNumber = z.int().meta({ description: 'Height of the block' })
export const logIndex = z.int().meta({ description: 'Position of the log in its block' })
export const blockTimestamp = z.iso.datetime().meta({ description: 'Time of the block' })
export const txHash = z.string().meta({ description: 'Hash of the transaction' })

/** A 64-bit or wider integer, as a decimal string. */
export const integerText = z.string().regex(/^-?\d+$/)

/** A 64-bit number that stays below 2^53, so that it is a number in JSON as well. */
export const safeInteger = z.string().transform(Number).pipe(z.int())

/** A time in the form in which a DateTime64(3) is inserted: unix seconds with milliseconds. */
export const unixSeconds = (time: Date): string => (time.getTime() / 1000).toFixed(3)

/** A number to so many decimals, halves up. */
export const toDecimals = (value: number, decimals: number): number =>
  Math.round(value * 10 ** decimals) / 10 ** decimals
