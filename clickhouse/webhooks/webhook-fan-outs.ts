import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** How far the log of events has been made into deliveries, and before which number all deliveries are over. */
export type FanOut = { sequence: number; settled_before: number }

/** Records it. Both only ever grow, and readers take the greatest. */
export function insertWebhookFanOut(clickhouse: ClickHouseClient, { sequence, settled_before }: FanOut): Promise<void> {
  const row = { sequence_number: sequence, settled_before }
  return insertRows(clickhouse, 'webhook_fan_outs', [row], `${sequence}:${settled_before}`)
}
