import { randomBytes } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { defineRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { QueryError } from '../store/query-error.js'
import { integerText, unixSeconds } from '../store/values.js'
import { BALANCES, Held, type Snapshot } from './balances.js'

/** Balances cannot be kept: they differ from what was minted and not burned, or were not stored as they were computed. */
class BalancesError extends PlumblineError {
  constructor(stable: string, at: Date, found: string, expected: string) {
    super(`the balances of ${stable} at ${at.toISOString()} are ${found}, not ${expected}`, { retryable: true })
  }
}

const sums = z.object({ holder_count: z.int(), sum: integerText })

const balanceSums = defineRow({
  name: 'balance_sums',
  params: Held,
  row: sums,
  sql: `
    SELECT toUInt32(countIf(balance > 0)) AS holder_count, toString(sum(toUInt256(balance))) AS sum FROM (${BALANCES})`,
})

const keptSums = defineRow({
  name: 'kept_balance_sums',
  params: z.object({ stable: z.string(), at: z.date(), snapshot_id: integerText }),
  row: sums,
  sql: `
    SELECT toUInt32(count()) AS holder_count, toString(sum(toUInt256(balance_raw))) AS sum
    FROM holder_balances WHERE stable = {stable: String} AND slot_at = {at: DateTime} AND snapshot_id = {snapshot_id: UInt64}`,
})

/** The slot of a snapshot, under whose token it counts once. */
type Slot = { at: Date; revision: number; token: string }

/**
 * Keeps all balances of a stable at a slot, given an earlier snapshot and the supply at the slot. Resolves to how many rows it
 * has written. After a crash they may be there without a snapshot that names them: then nothing reads them. Rejects with
 * BalancesError if they do not add up to the supply.
 */
export async function keepBalances(
  clickhouse: ClickHouseClient,
  { stable, to_block, before, supply }: { stable: string; to_block: number; before: Snapshot; supply: bigint },
  slot: Slot,
  now: Date,
): Promise<number> {
  const { at } = slot
  const balances = {
    stable,
    at,
    to_block,
    slot_at: before.slot_at,
    snapshot_id: before.snapshot_id,
    from: at.getTime() / 1000,
  }
  const computed = await balanceSums(clickhouse, balances)
  if (computed.sum !== `${supply}`) throw new BalancesError(stable, at, computed.sum, `${supply}`)
  const snapshot_id = `${randomBytes(8).readBigUInt64BE()}`
  await clickhouse
    .command({
      query: `
        INSERT INTO holder_balances (stable, slot_at, snapshot_id, balance_raw, holder)
        SELECT {stable: String}, {at: DateTime}, {own_id: UInt64}, balance, holder FROM (${BALANCES}) WHERE balance > 0`,
      query_params: { ...balances, own_id: snapshot_id },
      clickhouse_settings: { insert_deduplicate: 0, log_comment: 'insert_holder_balances' },
    })
    .catch((cause) => {
      throw new QueryError('insert into holder_balances', cause)
    })
  const kept = await keptSums(clickhouse, { stable, at, snapshot_id })
  if (kept.sum !== computed.sum || kept.holder_count !== computed.holder_count)
    throw new BalancesError(stable, at, `stored as ${kept.sum}`, computed.sum)
  const row = {
    stable,
    slot_at: at.getTime() / 1000,
    revision: slot.revision,
    published_at: unixSeconds(now),
    snapshot_id,
    holder_count: kept.holder_count,
    supply_raw: kept.sum,
  }
  await insertRows(clickhouse, 'holder_snapshots', [row], `${slot.token}:${stable}`)
  return kept.holder_count
}
