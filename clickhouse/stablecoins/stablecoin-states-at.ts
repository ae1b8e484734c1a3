import type { ClickHouseClient } from '@clickhouse/client'
import { recentStablecoinStates, type StablecoinState, stablecoinStatesOf } from './stablecoin-states.js'

/** Every stable that there was at `at` with its state then, by symbol, then address; null where it was never read. */
export async function stablecoinStatesAt(
  clickhouse: ClickHouseClient,
  { at }: { at: Date },
  options?: { signal?: AbortSignal },
): Promise<StablecoinState[]> {
  const states = await recentStablecoinStates(clickhouse, { at }, options)
  const stables = states.filter(({ supply }) => supply === null).map(({ address }) => address)
  if (stables.length === 0) return states
  const older = await stablecoinStatesOf(clickhouse, { at, stables }, options)
  const found = new Map(older.map((state) => [state.address, state]))
  return states.map((state) => found.get(state.address) ?? state)
}
