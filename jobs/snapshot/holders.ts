import type { ClickHouseClient } from '@clickhouse/client'
import { firstBlockAfter } from '../../clickhouse/chain/blocks.js'
import { coveredRanges } from '../../clickhouse/chain/covered-ranges.js'
import {
  NO_SNAPSHOT,
  newestSnapshot,
  transferCount,
  transferredStables,
  transferSums,
  unexplainedSupply,
} from '../../clickhouse/holders/balances.js'
import { keepBalances } from '../../clickhouse/holders/snapshots.js'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { stablecoinCreations } from '../../clickhouse/stablecoins/stablecoins.js'
import type { Slot } from '../schedule/run-slots.js'

/**
 * How many transfers make a snapshot due: so many, and a quarter of the holders. So the rows of all snapshots are at most four
 * times the transfers, and an answer adds up little more than one snapshot.
 */
const LEAST_TRANSFERS = 10_000
const isDue = (transfers: number, holders: number): boolean => transfers >= Math.max(LEAST_TRANSFERS, holders / 4)

/**
 * Keeps the balances of the stables that were transferred often enough since they were last kept, if every transfer since
 * their creation is stored. Answers are the same without, but take longer.
 */
export async function snapshotHolders(
  clickhouse: ClickHouseClient,
  slot: Slot,
  now = () => new Date(),
  isEnough = isDue,
): Promise<number> {
  const { at } = slot
  const active = await transferredStables(clickhouse, {
    from: new Date(at.getTime() - PERIOD_SECONDS.holders * 1000),
    at,
  })
  if (active.length === 0) return 0
  const [covered, next, creations] = await Promise.all([
    coveredRanges(clickhouse),
    firstBlockAfter(clickhouse, { time: at.getTime() / 1000 }),
    stablecoinCreations(clickhouse),
  ])
  // A slot is due only once there is a later block.
  const to_block = (next?.number ?? 0) - 1
  const stored = covered.find(
    (range) => range.family === 'transfers' && range.from_block <= to_block && to_block <= range.to_block,
  )
  let rows = 0
  for (const { stable, block_number } of creations.filter((creation) => active.includes(creation.stable))) {
    if (!stored || stored.from_block > Math.max(1, block_number)) continue
    const before = (await newestSnapshot(clickhouse, { stable, at })) ?? NO_SNAPSHOT
    const transfers = await transferCount(clickhouse, { stable, from: before.slot_at, at })
    if (!isEnough(transfers, before.holder_count)) continue
    if (block_number === 0 && (await unexplainedSupply(clickhouse, { stable, at })) !== '0') continue
    const { slot_at, snapshot_id } = before
    const moved = await transferSums(clickhouse, { stable, at, to_block, slot_at, snapshot_id, from: slot_at })
    const supply = BigInt(before.supply) + BigInt(moved.minted_since)
    rows += await keepBalances(clickhouse, { stable, to_block, before, supply }, slot, now())
  }
  return rows
}
