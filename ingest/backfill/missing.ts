import { BACKFILLED_FAMILIES, type Family, isByStable } from '../../clickhouse/chain/batches.js'
import type { CoveredRange } from '../../clickhouse/chain/covered-ranges.js'

import type { Scope } from '../batch/scope.js'
import type { BlockRange } from '../chain/block-ranges.js'

/**
 * What was requested: families of a range of blocks, and the stables whose pegs and state are read; an empty list means
 * all.
 */
export type FactRequest = BlockRange & { families: readonly Family[]; stables: readonly string[] }

/** A range of blocks and what is to be read of it. */
export type Missing = BlockRange & { scope: Scope }

/**
 * The missing part of one family, where `covered` are the stables that each range has stored; null if nothing is
 * missing.
 */
function missingStables(
  family: Family,
  request: FactRequest,
  covered: ReadonlyArray<readonly string[]>,
): Omit<Scope, 'families'> | null {
  if (covered.some((stables) => stables.length === 0)) return null
  if (!isByStable(family) || request.stables.length === 0)
    return { only: [], except: [...new Set(covered.flat())].sort() }
  const only = request.stables.filter((stable) => !covered.some((stables) => stables.includes(stable))).sort()
  return only.length === 0 ? null : { only, except: [] }
}

/** What is missing in a range of constant coverage. Families that miss the same stables are read together. */
function missingScopes(request: FactRequest, covered: readonly CoveredRange[]): Scope[] {
  const scopes: Array<{ families: Family[]; only: readonly string[]; except: readonly string[] }> = []
  const missingOf = (family: Family) => {
    const storedStables = covered.filter((range) => range.family === family).map(({ stables }) => stables)
    return request.families.includes(family) ? missingStables(family, request, storedStables) : null
  }
  for (const family of BACKFILLED_FAMILIES.filter(isByStable)) {
    const missing = missingOf(family)
    if (!missing) continue
    const scope = scopes.find(({ only, except }) => `${only}:${except}` === `${missing.only}:${missing.except}`)
    if (scope) scope.families.push(family)
    else scopes.push({ families: [family], ...missing })
  }
  // The others are read together with the first of these.
  const others = BACKFILLED_FAMILIES.filter((family) => !isByStable(family) && missingOf(family))
  if (others.length > 0 && scopes[0]) scopes[0].families.unshift(...others)
  else if (others.length > 0) scopes.push({ families: others, only: [], except: [] })
  return scopes
}

/** The missing ranges, oldest first: each is as long as possible, with the same data missing throughout. */
export function missingRanges(request: FactRequest, covered: readonly CoveredRange[]): Missing[] {
  if (request.from > request.to) return []
  const relevant = covered.filter(
    ({ family, from_block, to_block }) =>
      request.families.includes(family) && from_block <= request.to && to_block >= request.from,
  )
  const edges = relevant.flatMap(({ from_block, to_block }) => [from_block, to_block + 1])
  const inside = edges.filter((block) => block > request.from && block <= request.to)
  const starts = [...new Set([request.from, ...inside])].sort((a, b) => a - b)
  return starts.flatMap((from, i) => {
    const to = (starts[i + 1] ?? request.to + 1) - 1
    const covering = relevant.filter(({ from_block, to_block }) => from_block <= from && to_block >= to)
    return missingScopes(request, covering).map((scope) => ({ from, to, scope }))
  })
}

/** The ranges divided at multiples of `size`, so that none is longer, oldest or newest first. */
export function segmentsOf(missing: readonly Missing[], size: number, newestFirst: boolean): Missing[] {
  const segments = missing.flatMap(({ from, to, scope }) => {
    const parts: Missing[] = []
    for (let next = from; next <= to; next = (parts.at(-1) as Missing).to + 1) {
      parts.push({ from: next, to: Math.min(to, next - (next % size) + size - 1), scope })
    }
    return parts
  })
  return newestFirst ? segments.reverse() : segments
}
