import { tokens } from 'viem/tokens'

/**
 * The networks that Plumbline knows: which block to follow, and how many blocks behind it may still be replaced. The
 * devnet accepts any chain id and has no public token list.
 */
export const NETWORKS = {
  tempo: { chainId: 4217, head: 'finalized', deepestReorg: 0 },
  'tempo-testnet': { chainId: 42431, head: 'finalized', deepestReorg: 0 },
  devnet: { chainId: null, head: 'latest', deepestReorg: 64 },
} as const

export type Network = keyof typeof NETWORKS

/** Lower-case addresses on the chain's public token list; empty if the chain has none. */
export function listedTokens(chainId: number): ReadonlySet<string> {
  const addresses = tokens.all.map((token) => (token.addresses as Record<number, string | undefined>)[chainId])
  return new Set(addresses.filter((address) => address !== undefined).map((address) => address.toLowerCase()))
}
