import { GENESIS_STABLES, PATH_USD, type PlannedStable } from './stables.js'

/** A token list in the Uniswap format of a market's `stables` and those of genesis. `madeAt` in unix seconds. */
export function marketTokenList(stables: readonly PlannedStable[], chainId: number, madeAt: number) {
  const genesis = [PATH_USD, ...GENESIS_STABLES].map(({ symbol, address }) => ({ symbol, address, name: symbol }))
  return {
    name: 'Simulated market',
    timestamp: new Date(madeAt * 1000).toISOString(),
    version: { major: 1, minor: 0, patch: 0 },
    tokens: [...genesis, ...stables].map(({ symbol, address, name }) => ({
      chainId,
      address,
      symbol,
      name,
      decimals: 6,
    })),
  }
}
