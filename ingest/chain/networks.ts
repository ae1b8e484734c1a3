import { tokens } from 'viem/tokens'

/** The networks that Plumbline knows. On the devnet every chain id is taken and there is no public token list. */
export const NETWORKS = {
  tempo: { chainId: 4217, head: 'finalized' },
  'tempo-testnet': { chainId: 42431, head: 'finalized' },
  devnet: { chainId: null, head: 'latest' },
} as const

export type Network = keyof typeof NETWORKS

/** Lower-case addresses of the chain's public token list; empty for a chain that has none. */
export function listedTokens(chainId: number): ReadonlySet<string> {
  const addresses = tokens.all.map((token) => (token.addresses as Record<number, string | undefined>)[chainId])
  return new Set(addresses.filter((address) => address !== undefined).map((address) => address.toLowerCase()))
}
