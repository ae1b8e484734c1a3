import { FAMILIES, type Family } from '../../clickhouse/chain/batches.js'

import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'

/**
 * What is read of a range of blocks: families of facts, and of those that are read for each stable, the stables `only`,
 * or all where that is empty, but for `except`.
 */
export type Scope = { families: readonly Family[]; only: readonly string[]; except: readonly string[] }

/** All that there is. */
export const EVERYTHING: Scope = { families: FAMILIES, only: [], except: [] }

/** Whether every stable is in the scope. */
export const hasEveryStable = ({ only, except }: Scope): boolean => only.length === 0 && except.length === 0

/** Whether what is read for each stable is read for this one. */
export const hasStable = ({ only, except }: Scope, stable: string): boolean =>
  (only.length === 0 || only.includes(stable)) && !except.includes(stable)

const known = new WeakMap<Scope, WeakMap<readonly Stablecoin[], readonly Stablecoin[]>>()

/** Those of `stables` that are in the scope: one array for the same stables and scope, as requests are kept by it. */
export function stablesIn(scope: Scope, stables: readonly Stablecoin[]): readonly Stablecoin[] {
  if (hasEveryStable(scope)) return stables
  const ofScope = known.get(scope) ?? new WeakMap<readonly Stablecoin[], readonly Stablecoin[]>()
  known.set(scope, ofScope)
  const picked = ofScope.get(stables) ?? stables.filter(({ stable }) => hasStable(scope, stable))
  ofScope.set(stables, picked)
  return picked
}
