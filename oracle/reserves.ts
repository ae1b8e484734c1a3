import { newestSlot } from './in-use.js'
import type { SnapshotFacts } from './snapshot-facts.js'

/** The reserves of a stable as of an instant, by the definition; null before the first snapshot. */
export function reservesAt(facts: SnapshotFacts, stable: string, asOf: number) {
  const created = facts.stables.find((row) => row.stable === stable)
  const at = created ? newestSlot(created, facts, asOf, 3600) : null
  if (at === null || at <= facts.start) return null
  const state = (facts.states.get(stable) ?? []).findLast(({ t }) => t <= at)
  // Only a stable that is quoted then has a value.
  const price = (facts.samples.get(stable) ?? []).findLast(({ t }) => t <= at)?.sell_micros ?? null
  const backing = state && price ? (Number(state.supply_raw) / 1e6) * (price / 1e6) : null
  return { total_backing_usd: backing, computed_at: new Date(at * 1000).toISOString() }
}
