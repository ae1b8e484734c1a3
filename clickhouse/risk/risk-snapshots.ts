import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** A stable's score at a slot with its inputs, as the migration describes it. Decimals as text, `slot_at` in seconds. */
export type RiskSnapshot = {
  stable: string
  slot_at: number
  revision: number
  methodology: string
  composite: string
  peg_risk: string
  peg_break_risk: string
  supply_risk: string
  policy_risk: string
  quoted_count_24h: number
  unquoted_count_24h: number
  stddev_bps_24h: string | null
  max_deviation_bps_24h: string | null
  has_open_mild: boolean
  has_open_severe: boolean
  mild_events_7d: number
  severe_events_7d: number
  supply_raw: string | null
  cap_raw: string | null
  paused: boolean | null
  policy_id: string | null
  policy_type: string | null
  state_block_number: string | null
  policy_events_7d: number
}

/** Adds the rows of a slot. Repeating its token changes nothing. */
export const insertRiskSnapshots = (
  clickhouse: ClickHouseClient,
  rows: readonly RiskSnapshot[],
  token: string,
): Promise<void> => insertRows(clickhouse, 'risk_snapshots', rows, token)
