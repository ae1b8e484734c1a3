import tempo from './4217.json' with { type: 'json' }
import testnet from './42431.json' with { type: 'json' }
import { type ListedTokens, type TokenList, tokensOfChain } from './format.js'

/** The public lists that come with this version, made by `npm run token-list`. */
const SHIPPED = new Map<number, TokenList>([
  [4217, tempo],
  [42431, testnet],
])

/** The tokens of a chain on the list that comes with this version; null for a chain without one, as a local chain. */
export function shippedTokens(chainId: number): ListedTokens | null {
  const list = SHIPPED.get(chainId)
  return list ? tokensOfChain(chainId, list) : null
}
