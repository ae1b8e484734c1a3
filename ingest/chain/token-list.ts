import { readFileSync } from 'node:fs'
import { tokens } from 'viem/tokens'
import { z } from 'zod'
import { ConfigError } from '../../process/environment.js'

const Entry = z.looseObject({
  chainId: z.int().positive(),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits'),
  decimals: z.int().min(0).max(255),
  name: z.string().min(1),
  symbol: z.string().min(1),
})
const version = z.int().nonnegative()

/** A list in the Uniswap format, as tokenlist.tempo.xyz serves it. What is not needed here is not checked. */
const TokenList = z
  .looseObject({
    name: z.string().min(1),
    timestamp: z.iso.datetime({ offset: true }),
    version: z.looseObject({ major: version, minor: version, patch: version }),
    tokens: z.array(Entry).min(1, 'must not be empty'),
  })
  .superRefine(({ tokens }, context) => {
    const placeOf = new Map<string, number>()
    for (const [i, { chainId, address }] of tokens.entries()) {
      const key = `${chainId} ${address.toLowerCase()}`
      const first = placeOf.get(key)
      if (first === undefined) placeOf.set(key, i)
      else context.addIssue({ code: 'custom', path: ['tokens', i], message: `is the same token as tokens.${first}` })
    }
  })
export type TokenList = z.infer<typeof TokenList>

function parseJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** The token list in the file that an environment variable names; a ConfigError shows everything that is wrong in it. */
export const tokenListFile = z.string().transform((path, context): TokenList => {
  const problem = (message: string): number => context.issues.push({ code: 'custom', message, input: path })
  try {
    const { data, error } = TokenList.safeParse(parseJson(path))
    if (data) return data
    for (const issue of error.issues) problem(`${['the list', ...issue.path].join('.')}: ${issue.message}`)
  } catch (error) {
    problem((error as Error).message)
  }
  return z.NEVER
})

/** The listed tokens of a chain: their lower-case addresses, and the name and version of the list. */
export type ChainTokens = { addresses: ReadonlySet<string>; source: string }

/**
 * The chain's tokens on `list`; without a list, on the public one that comes with viem, which may have none. Throws
 * ConfigError for a list without a token of the chain.
 */
export function listedTokens(chainId: number, list: TokenList | undefined): ChainTokens {
  if (list === undefined) {
    const addresses = tokens.all.map((token) => (token.addresses as Record<number, string | undefined>)[chainId])
    const chainAddresses = addresses.filter((address) => address !== undefined)
    return { addresses: new Set(chainAddresses.map((address) => address.toLowerCase())), source: 'viem/tokens' }
  }
  const chainTokens = list.tokens.filter((token) => token.chainId === chainId)
  if (chainTokens.length === 0) throw new ConfigError([`TOKEN_LIST: the list has no token of chain ${chainId}`])
  const { major, minor, patch } = list.version
  return {
    addresses: new Set(chainTokens.map(({ address }) => address.toLowerCase())),
    source: `${list.name} ${major}.${minor}.${patch}`,
  }
}
