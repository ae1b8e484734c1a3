import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'

/** The stables that exist according to the logs so far. */
export type Registry = {
  add: (stable: Stablecoin) => void
  setQuoteToken: (stable: string, quoteToken: string) => void
  /** The token that orders for `stable` are quoted in from now on; undefined for an unknown stable. */
  quoteTokenOf: (stable: string) => string | undefined
  has: (stable: string) => boolean
  /** The stables that existed before the first transaction. */
  genesis: () => readonly Stablecoin[]
  /**
   * The stables sampled at a block: those that existed at its end and are tracked. Returns the same array until it
   * changes.
   */
  sampledAt: (blockNumber: number) => readonly Stablecoin[]
}

/** Starts from `stables`, in order of creation. `track`: sample every stable, or only the publicly listed ones. */
export function createRegistry(stables: readonly Stablecoin[], track: 'all' | 'listed'): Registry {
  const byAddress = new Map<string, Stablecoin>()
  const sampled: Stablecoin[] = []
  const views = new Map<number, readonly Stablecoin[]>()

  const add = (stable: Stablecoin): void => {
    if (byAddress.has(stable.stable)) return
    byAddress.set(stable.stable, stable)
    if (track === 'all' || stable.tier === 'listed') sampled.push(stable)
  }
  stables.forEach(add)

  return {
    add,
    setQuoteToken: (address, quote_token) => {
      const stable = byAddress.get(address)
      if (stable) stable.quote_token = quote_token
    },
    quoteTokenOf: (address) => byAddress.get(address)?.quote_token,
    has: (address) => byAddress.has(address),
    genesis: () => [...byAddress.values()].filter(({ block_number }) => block_number === 0),
    sampledAt: (blockNumber) => {
      // Blocks come in order, and stables are added in order of creation, so their number identifies the set.
      let count = sampled.length
      while (count > 0 && (sampled[count - 1] as Stablecoin).block_number > blockNumber) count--
      const view = views.get(count) ?? sampled.slice(0, count)
      views.set(count, view)
      return view
    },
  }
}
