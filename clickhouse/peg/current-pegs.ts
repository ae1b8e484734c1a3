import type { ClickHouseClient } from '@clickhouse/client'
import { newestSamples } from './newest-samples.js'
import { type CurrentPeg, currentPeg, END_OF_TIME } from './peg-at.js'
import { keepsItsPrice, pegPrice } from './peg-price.js'

/** The peg at `as_of`, or now, of every stable that was sampled by then, by address: for each the same as `currentPeg`. */
export async function currentPegs(
  clickhouse: ClickHouseClient,
  { as_of = END_OF_TIME }: { as_of?: Date | undefined },
  options?: { signal?: AbortSignal },
): Promise<Map<string, CurrentPeg>> {
  const rows = await newestSamples(clickhouse, { as_of }, options)
  const pegs = rows.map(async ({ stable, newest, priced }): Promise<[string, CurrentPeg]> => {
    if (!keepsItsPrice(newest.status)) return [stable, { newest, current: null }]
    const current = pegPrice(priced)
    return [stable, current ? { newest, current } : await currentPeg(clickhouse, { stable, as_of }, options)]
  })
  return new Map(await Promise.all(pegs))
}
