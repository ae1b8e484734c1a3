import type { ClickHouseClient } from '@clickhouse/client'
import { newestBlock } from '../../clickhouse/queries/newest-block.js'

/** How far ingest is behind the clock, in whole seconds; null while there is no block at all. */
export async function checkLag(clickhouse: ClickHouseClient, now: Date): Promise<number | null> {
  const [newest] = await newestBlock(clickhouse, {})
  return newest ? Math.floor((now.getTime() - newest.block_time.getTime()) / 1000) : null
}
