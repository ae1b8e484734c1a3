import { z } from 'zod'
import { ConfigError } from '../../process/environment.js'

/** The largest list that is read. The public one has some 20 kB. */
export const MOST_BYTES = 5_000_000

/** Most problems of one list that a message names; a hostile list may have one for each token and field. */
const MOST_PROBLEMS = 100

/** A list is not usable. The message names everything that is wrong in it, but nothing of its contents. */
export class BadTokenListError extends ConfigError {
  readonly problems: readonly string[]

  constructor(all: readonly string[]) {
    const more = all.length - MOST_PROBLEMS
    const problems = more > 0 ? [...all.slice(0, MOST_PROBLEMS), `the list has ${more} more problems`] : all
    super(problems.map((problem) => `TOKEN_LIST: ${problem}`))
    this.problems = problems
  }
}

/** Text that may be printed: no control characters, and none that reorder or hide others. */
const shownText = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\P{C}*$/u, 'must not contain control characters')
const version = z.int().nonnegative()

const Entry = z.looseObject({
  chainId: z.int().positive(),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits'),
  decimals: z.int().min(0).max(255),
  name: shownText,
  symbol: shownText,
})

/** A list in the Uniswap format, as tokenlist.tempo.xyz serves it. What is not needed here is not checked. */
const TokenList = z
  .looseObject({
    name: shownText,
    timestamp: z.iso.datetime({ offset: true }),
    version: z.looseObject({ major: version, minor: version, patch: version }),
    tokens: z.array(Entry).min(1, 'must not be empty').max(10_000, 'must not have more than 10,000 tokens'),
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

/** The list in a JSON text; throws BadTokenListError. */
export function parseTokenList(text: string): TokenList {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new BadTokenListError([text.trim() === '' ? 'the list is empty' : 'the list is not JSON'])
  }
  const { data, error } = TokenList.safeParse(content)
  if (data) return data
  throw new BadTokenListError(error.issues.map(({ path, message }) => `${['the list', ...path].join('.')}: ${message}`))
}

/** The listed tokens of a chain: their lower-case addresses, the name and version of the list, and when it was made. */
export type ListedTokens = { addresses: ReadonlySet<string>; source: string; made_at: Date }

/** The tokens of a chain on a list; throws BadTokenListError for a list that has none, as it is another chain's. */
export function tokensOfChain(chainId: number, list: TokenList): ListedTokens {
  const chainTokens = list.tokens.filter((token) => token.chainId === chainId)
  if (chainTokens.length === 0) throw new BadTokenListError([`the list has no token of chain ${chainId}`])
  const { major, minor, patch } = list.version
  return {
    addresses: new Set(chainTokens.map(({ address }) => address.toLowerCase())),
    source: `${list.name} ${major}.${minor}.${patch}`,
    made_at: new Date(list.timestamp),
  }
}
