import type { TokenList } from './format.js'

/** A list, where it was read, and when it was the newest there. */
export type ReadList = { list: TokenList; source: string; current_at: Date }

/**
 * One list of a chain's tokens from several, sorted by symbol; of a token on several, the entry of the first. It is as old
 * as the oldest of them, since a newer token may be missing there. Logos and other fields that nobody reads are left out.
 */
export function mergeLists(chainId: number, name: string, lists: readonly ReadList[]) {
  const byAddress = new Map<string, TokenList['tokens'][number]>()
  for (const { list } of lists) {
    for (const token of list.tokens) {
      const address = token.address.toLowerCase()
      if (token.chainId === chainId && !byAddress.has(address)) byAddress.set(address, { ...token, address })
    }
  }
  const made_at = new Date(Math.min(...lists.map(({ current_at }) => current_at.getTime())))
  return {
    name,
    timestamp: made_at.toISOString(),
    version: { major: made_at.getUTCFullYear(), minor: made_at.getUTCMonth() + 1, patch: made_at.getUTCDate() },
    sources: lists.map(({ source }) => source),
    tokens: [...byAddress.values()]
      .sort((a, b) => a.symbol.localeCompare(b.symbol, 'en'))
      .map(({ address, decimals, name, symbol, extensions }) => ({
        chainId,
        address,
        decimals,
        name,
        symbol,
        ...(extensions !== undefined && { extensions }),
      })),
  }
}
