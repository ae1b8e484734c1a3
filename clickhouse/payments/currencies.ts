import { z } from 'zod'
import { REFERENCE_STABLE } from '../peg/price.js'

const OUSD = '0x20c0000000000000000000006a37da5c996874be'
const USDC_E = '0x20c000000000000000000000b9537d11c60e8b50'
const MAIN_NETWORK = 4217

/** mppx makes no challenge in MACH, the machine token: it is swapped for one of the others. */
const MACH = '0x20c000000000000000000000f37de3740adec032'

/** Every currency is a challenge of some 700 bytes in the header of a 402, of which proxies such as nginx take 4 KB. */
const MOST_CURRENCIES = 4

/** The TIP-20 factory gives every token an address with this prefix. */
const TIP_20 = /^0x20c0{21}[0-9a-f]{16}$/

/**
 * The tokens of PAYMENT_CURRENCY, preferred first, in lower case. Whether they exist is known only on the chain, so an
 * address that no token has is accepted, and a challenge in it cannot be paid.
 */
export const paymentCurrencies = z
  .string()
  .transform((text) => text.split(',').map((address) => address.trim().toLowerCase()))
  .refine((addresses) => addresses.every((address) => TIP_20.test(address)), {
    error:
      'must be addresses of TIP-20 tokens, 0x20c000000000000000000000 and 16 hexadecimal digits, separated by commas',
    abort: true,
  })
  .refine((addresses) => new Set(addresses).size === addresses.length, 'must not name a token twice')
  .refine((addresses) => !addresses.includes(MACH), 'must not contain MACH, in which payments cannot be asked for')
  .refine((addresses) => addresses.length <= MOST_CURRENCIES, `must name at most ${MOST_CURRENCIES} tokens`)

/**
 * The tokens that payments are made in on a chain, preferred first: those that are configured; otherwise what payers on
 * the main network hold, most first, and the reference stable, which is the only one on other chains.
 */
export const currenciesOn = (chainId: number, configured: readonly string[] | undefined): readonly string[] =>
  configured ?? (chainId === MAIN_NETWORK ? [OUSD, USDC_E, REFERENCE_STABLE] : [REFERENCE_STABLE])
