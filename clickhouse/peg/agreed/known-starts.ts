import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineRow, onlyColumn } from '../../store/define-query.js'
import { priceBefore } from '../known-starts.js'
import { SETTLED_SECONDS } from '../rules.js'
import type { AgreedBreak, QuoteLoss } from './tracks.js'

/** The time of the first stored block from a block on. */
const timeFrom = defineRow({
  name: 'time_from_block',
  params: z.object({ from_block: z.int() }),
  row: onlyColumn('time', z.int()),
  sql: `
    SELECT toUnixTimestamp(block_time) AS time FROM blocks
    WHERE block_number >= {from_block: UInt64} ORDER BY blocks.block_number LIMIT 1`,
})

/**
 * Whether a break or a loss is known to have begun with its first sample, given the first of the blocks that are read without a
 * hole up to it. A loss needs a price before it. A break needs one of two things: its finder has seen the stable's first price;
 * or it has read every block for SETTLED_SECONDS, and then a price back inside the limits.
 */
export async function startsInside(
  clickhouse: ClickHouseClient,
  { kind, stable, started_at, started_block, seen }: AgreedBreak | QuoteLoss,
  from_block: number,
): Promise<boolean> {
  if (kind === 'unquoted') {
    const before = await priceBefore(clickhouse, { stable, started_at, started_block, from_block })
    return before.deviation_micros !== null
  }
  const first = { stable, started_at: seen.first_at, started_block: seen.first_block, from_block }
  const { deviation_micros, isFirst } = await priceBefore(clickhouse, first)
  if (deviation_micros === null && isFirst) return true
  if (seen.inside_at === null || seen.inside_block === null || seen.inside_block < from_block) return false
  const since = Math.max(seen.first_at, await timeFrom(clickhouse, { from_block }))
  return seen.inside_at - since >= SETTLED_SECONDS
}
