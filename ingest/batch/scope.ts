import { FAMILIES, type Family, isOptional } from '../../clickhouse/chain/batches.js'
import type { IngestConfig } from '../config.js'
import type { SampledStable } from '../knowledge/registry.js'

/**
 * What is read of a range of blocks: families of facts, and for those that are read per stable, the stables `only`
 * (empty: all) except those in `except`.
 */
export type Scope = { families: readonly Family[]; only: readonly string[]; except: readonly string[] }

/** Every family of every stable. */
export const EVERYTHING: Scope = { families: FAMILIES, only: [], except: [] }

/** What is read with these settings: everything, but transfers only if holders are tracked. */
export const familiesRead = ({ TRACK_HOLDERS, CHAIN }: Pick<IngestConfig, 'TRACK_HOLDERS' | 'CHAIN'>): Family[] =>
  FAMILIES.filter((family) => !isOptional(family) || (TRACK_HOLDERS ?? CHAIN === 'devnet'))

/** Whether every stable is in the scope. */
export const hasEveryStable = ({ only, except }: Scope): boolean => only.length === 0 && except.length === 0

/** Whether the scope includes this stable. */
export const hasStable = ({ only, except }: Scope, stable: string): boolean =>
  (only.length === 0 || only.includes(stable)) && !except.includes(stable)

const pickedStables = new WeakMap<Scope, WeakMap<readonly SampledStable[], readonly SampledStable[]>>()

/**
 * Those of `stables` that are in the scope. Returns the same array for the same stables and scope, because requests are
 * cached by array.
 */
export function stablesIn(scope: Scope, stables: readonly SampledStable[]): readonly SampledStable[] {
  if (hasEveryStable(scope)) return stables
  const ofScope = pickedStables.get(scope) ?? new WeakMap<readonly SampledStable[], readonly SampledStable[]>()
  pickedStables.set(scope, ofScope)
  const picked = ofScope.get(stables) ?? stables.filter(({ stable }) => hasStable(scope, stable))
  ofScope.set(stables, picked)
  return picked
}
