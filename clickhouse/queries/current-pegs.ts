import type { ClickHouseClient } from '@clickhouse/client'
import { keepsItsPrice, pegPrice } from '../../domain/peg-price.js'
import { newestSamples } from './newest-samples.js'
import { type CurrentPeg, currentPeg } from './peg-at.js'

/** The current peg of every stable that was ever sampled, by address: for each the same as `currentPeg`. */
export async function currentPegs(
  clickhouse: ClickHouseClient,
  options?: { signal?: AbortSignal },
): Promise<Map<string, CurrentPeg>> {
  const rows = await newestSamples(clickhouse, {}, options)
  const pegs = rows.map(async ({ stable, newest, priced }): Promise<[string, CurrentPeg]> => {
    if (!keepsItsPrice(newest.status)) return [stable, { newest, current: null }]
    const current = pegPrice(priced)
    return [stable, current ? { newest, current } : await currentPeg(clickhouse, { stable }, options)]
  })
  return new Map(await Promise.all(pegs))
}
