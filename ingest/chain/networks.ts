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
