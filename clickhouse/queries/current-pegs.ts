import type { ClickHouseClient } from '@clickhouse/client'
import { newestSamples } from './newest-samples.js'
import { currentPeg, keepsItsPrice } from './peg-at.js'
import type { PegSampleRow, PricedSampleRow } from './peg-sample.js'

/** Every sampled stable's newest status and the price that stands, by address. Equals `currentPeg` of each. */
export async function currentPegs(
  clickhouse: ClickHouseClient,
  options?: { signal?: AbortSignal },
): Promise<Map<string, { status: PegSampleRow['status']; current: PricedSampleRow | null }>> {
  const rows = await newestSamples(clickhouse, {}, options)
  const pegs = rows.map(async ({ stable, newest_status: status, priced: [recent] }) => {
    if (!keepsItsPrice(status)) return [stable, { status, current: null }] as const
    const current = recent ?? (await currentPeg(clickhouse, { stable }, options)).current
    return [stable, { status, current }] as const
  })
  return new Map(await Promise.all(pegs))
}
